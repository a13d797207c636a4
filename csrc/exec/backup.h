/* backup.h - a copy of a database as a snapshot has it. */
#ifndef EXEC_BACKUP_H
#define EXEC_BACKUP_H

#include "exec/checking.h"

/* database_backup's, through a snapshot. */
int backup_run(conn *c, const published *state, const uint8_t *file, size_t len, bool replace, const check_watch *watch,
               backup_report *out, error *err);

#endif
