/* CFenec.h - what the Swift module imports: the C interface and nothing else. */
#ifndef CFENEC_H
#define CFENEC_H

#include "../../include/fenec.h"

#endif
