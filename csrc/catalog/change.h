/* change.h - what the files of catalog/ share. */
#ifndef CATALOG_CHANGE_H
#define CATALOG_CHANGE_H

#include "catalog/catalog.h"

#define PATH_KEYS_MAX 64
#define FIELD_NUMBERS_MAX 65535u /* as many as a record knows */

/* Empty, with room for so many collections and one reference; NULL where memory ran out. */
catalog *catalog_new(uint32_t room);

#endif
