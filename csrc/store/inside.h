/* inside.h - what the sources of a store share: its state, and which lock guards which part of it.
 *
 * One connection writes, up to 16 read. A block is a transaction of the writer; of a NO_SYNC database
 * one transaction holds many. A snapshot is a read transaction of a reader. An idle reader keeps its
 * snapshot for the next read for as long as nothing was committed since; whoever commits or checkpoints
 * ends the idle ones, so that none is ever older than the newest commit or in the way of the log.
 *
 * The publish number is odd while a commit is on its way. A reader that starts notes it, starts its
 * transaction and looks again: the same even number means that rows and version belong together. */
#ifndef STORE_INSIDE_H
#define STORE_INSIDE_H

#include <sqlite3.h>
#include <stdatomic.h>

#include "base/thread.h"
#include "store/conn.h"
#include "store/lockfile.h"
#include "store/page_scan.h"
#include "store/statement.h"
#include "store/store.h"

#define READERS_MAX 16
#define READS_TO_TRIM 4096 /* reads after which the pool is trimmed even if nobody asks */
#define LONG_READ_ROWS 10000
#define SHORT_READ_MS 5
#define LONG_BLOCK_WRITES 64
#define BUFFER_BYTES (1024 * 1024)        /* gathered by NO_SYNC before it is committed */
#define LOG_BYTES (4 * 1024 * 1024)       /* of log after which the writer checkpoints */
#define LOG_BYTES_LARGE (16 * 1024 * 1024) /* after which that is begun beside other writers */

typedef enum fixed {
    FIXED_BEGIN,
    FIXED_BEGIN_WRITE,
    FIXED_COMMIT,
    FIXED_ROLLBACK,
    FIXED_SCHEMA,
    FIXED_BLOCK,
    FIXED_BLOCK_UNDO,
    FIXED_BLOCK_END,
    FIXED_MARK,
    FIXED_MARK_UNDO,
    FIXED_MARK_END,
    FIXED_FREE,
    FIXED_PAGES,
    FIXED_VACUUM,
    FIXED_COUNT
} fixed;

struct conn {
    store *s;
    sqlite3 *db;
    bool writer;
    sqlite3_stmt *fixed[FIXED_COUNT];
    statements cache;
    int64_t schema; /* of the snapshot: the tables it knows change with this number */
    struct scan *scan; /* the innermost under way */
    struct probing *probing; /* the innermost key of a probe under way */
    const int64_t *listed; /* the ids that the next list starts with */
    size_t listed_count;

    /* Of a reader. The first group is its holder's, the second LOCK_POOL's. */
    uint32_t steps;
    bool first; /* was the only one when it was made */
    bool in_snapshot;
    page_reader pages;
    uint64_t number; /* the publish number of the snapshot */
    version *v;      /* its version, kept */

    bool active;    /* handed out */
    bool is_long;   /* no checkpoint waits for it */
    uint64_t since; /* store.reads when it was handed out */
    uint64_t begun; /* store.reads when its snapshot began */
    conn *next_idle;
};

/* The transaction of the writer. */
typedef struct transaction {
    bool open;        /* SQLite is in a transaction */
    bool under_way;   /* between store_write and its end */
    bool wrote;       /* this block did */
    bool changed;     /* the transaction did */
    bool savepoint;   /* this block has one: others stand before it in the transaction */
    bool marked;      /* store_savepoint */
    bool lost;        /* SQLite put the transaction back by itself */
    int lost_code;    /* of the failure with which it did */
    bool made_tables; /* or dropped some */
    uint32_t buffered; /* blocks that landed in it before this one */
    uint32_t work;     /* writes of this block */
    bool counts;       /* this block set the counter, to `count` */
    bool count_due;    /* one before it did, to `due`, and it is not in the file yet */
    uint64_t count, due;
    size_t bytes;      /* gathered */
} transaction;

/* Whether reads begin. */
typedef enum gate {
    GATE_OPEN,
    GATE_DRAIN, /* no: the last one that ends folds the log in and opens */
    GATE_HELD   /* no: who closed it opens it */
} gate;

struct store {
    char *path; /* as SQLite has it */
    char *vfs;  /* NULL: SQLite's default */
    bool memory, no_sync;
    bool exclusive; /* nobody else can open it */
    unsigned forks; /* how often the process had been forked */
    lockfile *lock;

    /* LOCK_WRITER. The condition goes with it. */
    struct lock writing;
    condition quiet; /* no checkpoint beside writers is under way any more */
    conn writer;
    sqlite3_file *log; /* the writer's, for as long as it is open; synced under no lock */
    transaction transaction;
    version *latest; /* of the newest block, committed or buffered; kept */
    bool spills;     /* the page cache may write to the log before a commit */
    uint32_t stamp;  /* user_version as committed */
    bool stamp_due;  /* the next commit raises it */
    bool stamped;    /* the last commit in the log did, or there is none */
    uint32_t begun, whole; /* stamps that the file was marked with before a fold, and after a whole one */
    bool mark_due;         /* the file is whole and does not say so yet: the log may not begin anew */
    uint32_t log_frames;
    bool log_moved; /* a commit wrote to it, the one under way */
    uint32_t checkpoint_frames; /* of log at which the next checkpoint is tried */
    bool held;                  /* a read keeps the log from being folded in whole */
    uint64_t held_since;        /* store.reads when that was met */
    bool beside;                /* a checkpoint beside writers is under way */

    _Atomic(bool) buffered;    /* the writer's transaction holds landed blocks */
    _Atomic(int) awaited;      /* reads that wait to see them */
    _Atomic(bool) refused;     /* by the disk: no writes until reopened */
    _Atomic(uint64_t) entered; /* blocks that asked for the writer's lock */
    _Atomic(bool) drained;     /* the gate is shut and the last read is over */
    _Atomic(bool) retry;       /* a long read ended: a checkpoint may get further now */
    _Atomic(bool) put_off;     /* a checkpoint is left to the next block */

    /* LOCK_DURABLE */
    struct lock durable;
    condition moved;    /* synced, or refused */
    condition gathered; /* a block is over, or turns out to be long */
    uint64_t landed, synced; /* tickets */
    uint64_t left;           /* blocks that are over */
    uint64_t waiting;        /* for a sync that is under way */
    uint64_t released;       /* by the last one */
    bool syncing;            /* a leader is at it */
    int64_t sync_us;         /* that the last one took */
    bool gathering;          /* and waits for blocks to land */
    int giving_way;          /* threads in store_give_way */
    bool long_block;         /* nobody waits for the block under way */
    char reason[200];        /* of `refused` */

    /* LOCK_PUBLISH: held around COMMIT and publishing; whoever holds it meets a number that rests. */
    struct lock publish;
    _Atomic(uint64_t) view_epoch; /* counts changes of `view` */
    _Atomic(uint64_t) number; /* changed under LOCK_PUBLISH, its even values under LOCK_POOL too */

    /* LOCK_POOL */
    struct lock pool;
    condition available; /* a reader may be, or the gate is open, or the store closed */
    condition returned;  /* a reader was, or became long */
    conn *readers[READERS_MAX];
    int reader_count, active_count; /* of those made; handed out, and about to be */
    int opening;
    conn *idle;
    version *current; /* kept */
    log_view view;    /* changed under LOCK_WRITER too */
    uint64_t reads;   /* handed out so far */
    uint64_t trimmed; /* readers that were handed out up to here and not again are not needed */
    uint64_t fence;   /* snapshots begun up to here are not kept for another read */
    gate gate;
    bool closed;
};

/* ---- scan.c ---- */

int scan_register(sqlite3 *db, conn *c); /* what its statements call; SQLite's code */

/* ---- probe.c ---- */

int probe_register(sqlite3 *db, conn *c);

/* ---- listed.c ---- */

int listed_register(sqlite3 *db, conn *c); /* the ids of conn.listed as a table; SQLite's code */

/* ---- conn.c ---- */

typedef enum conn_role { CONN_WRITER, CONN_FIRST_READER, CONN_READER, CONN_CHECKPOINT } conn_role;

int conn_open(conn *c, store *s, conn_role role, bool create, error *err);
void conn_close(conn *c);                          /* {0} too */
int conn_step(conn *c, fixed which, int64_t *out); /* to its end; SQLite's code; out: column 0, may be NULL */
int conn_run(conn *c, const char *sql);            /* SQLite's code */

/* The code of a result, after what it means for the block was noted. */
int conn_fail(conn *c, int rc, const char *doing, error *err);

/* ---- pool.c; under no lock of the pool ---- */

/* Waits until the reads begun before now are over, all or those that are not long; their snapshots, and
 * those of idle readers, end with them. A read that keeps it waiting for SHORT_READ_MS is long. */
void pool_wait(store *s, bool long_too);

uint64_t pool_reads(store *s); /* store.reads */

/* No read begins until the gate opens; but it stays open while a read that was handed out up to `spared` goes
 * on. False, and open: nobody reads. */
bool pool_shut(store *s, gate how, uint64_t spared);
void pool_admit(store *s);
void pool_note_long(conn *c);
void pool_close(store *s); /* refuses reads from now on and waits for the last one */
void pool_free(store *s);

/* Publishes `latest`: called with LOCK_PUBLISH between an odd number and its even successor. Hands out
 * what has to be dropped once no lock is held. */
#define PUBLISH_DROPS (READERS_MAX + 1)
int pool_publish(store *s, version *drops[PUBLISH_DROPS]);

/* ---- log_view.c; LOCK_WRITER held ---- */

void log_view_open(store *s);   /* before the first read */
void log_view_commit(store *s); /* a COMMIT went through; before its number is even */
void log_view_doubt(store *s, bool forget); /* before a checkpoint; `forget`: after a commit that failed */
void log_view_fold(store *s, int rc, int frames, int done); /* what the writer's checkpoint answered */

/* ---- counter.c; LOCK_WRITER held ---- */

int counter_write(store *s, error *err); /* before a COMMIT */

/* ---- transaction.c; LOCK_WRITER held ---- */

int transaction_flush(store *s, error *err);         /* commits what is buffered */
int transaction_check(store *s, error *err); /* IO where writes are refused; under any lock or none */
int transaction_check_lost(store *s, error *err); /* and where the block under way is lost */
void transaction_note(store *s, int rc, error *err); /* what a failure means for the transaction */
int transaction_begin(store *s, error *err);
int transaction_land(store *s, error *err); /* COMMIT and publish; on failure all is put back */
void transaction_undo(store *s);            /* ROLLBACK */
int transaction_settle(store *s); /* between transactions: one that found no memory to end ends; SQLite's code */
void transaction_allow_spills(store *s, bool allowed);

/* A commit that raises the stamp, where the last one did not: before the log is folded in, and before the reads
 * are waited for that may be in the way of that. */
int transaction_stamp(store *s, error *err);

static inline void transaction_wrote(conn *c, size_t bytes);

/* ---- durable.c ---- */

void durable_refuse(store *s, const char *reason);      /* writes, until the file is opened again */
int durable_refused(store *s, error *err);              /* the error that says so */
void durable_land(store *s, uint64_t *ticket);          /* a commit; LOCK_WRITER held */
void durable_leave(store *s);                           /* a block is over; LOCK_WRITER held */
void durable_note_long(store *s);                       /* no leader waits for who holds LOCK_WRITER */
void durable_note_short(store *s);                      /* as before */
int durable_wait(store *s, uint64_t ticket, error *err); /* syncs, whatever kind of store */
void durable_note_synced(store *s, uint64_t ticket);
int durable_sync_log(store *s);                         /* SQLite's code */

/* ---- mark.c; LOCK_WRITER held; SQLite's codes ---- */

int mark_write(sqlite3 *db, uint32_t number); /* durably; also without the lock while `beside` */
int mark_begin(store *s);                     /* before a fold, of all up to the stamp, which is durable */
int mark_whole(store *s);                     /* after one that left nothing, before the log can begin anew */

/* ---- checkpoint.c; LOCK_WRITER held, no transaction open ---- */

/* What a failure to fold or to mark means: a log or file that could not be synced or written is not trusted
 * any more. A full disk leaves both as they were, the file only behind its log. */
void checkpoint_note_failure(store *s, int rc);

void checkpoint_if_due(store *s);           /* may let LOCK_WRITER go for a while */
void checkpoint_put_off(store *s);          /* where one is due: before the next block, by who writes it. LOCK_WRITER held */
void checkpoint_early(store *s);            /* by who works behind the writers; takes LOCK_WRITER */
void checkpoint_run(store *s);              /* the writer's own */
void checkpoint_drained(store *s);          /* by the last reader; takes LOCK_WRITER */
int checkpoint_whole(store *s, error *err); /* folds all of the log in and truncates it */
void checkpoint_wait(store *s);             /* for one beside writers */

/* ---- store.c ---- */

int store_fail_closed(error *err);

static inline void transaction_wrote(conn *c, size_t bytes)
{
    transaction *t = &c->s->transaction;

    t->wrote = t->changed = true;
    t->bytes += bytes + 32; /* cells and keys have heads */
    if (++t->work == LONG_BLOCK_WRITES)
        durable_note_long(c->s);
    if (t->bytes >= BUFFER_BYTES && !c->s->spills)
        transaction_allow_spills(c->s, true);
}

#endif
