/* check.h - what the contract tests share: calls that remember their answer, and checks on it. */
#ifndef FFI_CHECK_H
#define FFI_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fenec.h"

/* The answer of the last call below: its code, its text ("" for none), whether there was a text. */
typedef struct reply {
    int32_t code;
    char *text;
    size_t len;
    bool given;
} reply;

extern reply last;

int32_t query(uint64_t handle, const char *text);
int32_t query_with(uint64_t handle, const char *text, const char *params);
int32_t query_vectors(uint64_t handle, const char *text, const char *params, const void *vectors, size_t len);
int32_t changes(uint64_t handle, uint64_t since);
int32_t open_file(const char *path, uint32_t flags, uint64_t *handle);
int32_t close_handle(uint64_t handle);
uint64_t memory_database(void);
int32_t sync_handle(uint64_t handle);
int32_t flush_handle(uint64_t handle);
int32_t checkpoint_handle(uint64_t handle);
int32_t schema(uint64_t handle, const char *text, size_t len, uint32_t mode);
int32_t warm_handle(uint64_t handle, const char *only);

const char *temp_path(const char *name); /* in a folder of this run; static buffer */
long file_size(const char *path);        /* -1: not there */
void write_file(const char *path, const void *bytes, size_t len);

void check_at(const char *file, int line, bool good, const char *what);
void check_reply_at(const char *file, int line, int32_t code, int32_t want, const char *text);
#define CHECK(condition) check_at(__FILE__, __LINE__, (condition), #condition)
/* The call's code is `want`; with a text, the answer is exactly it. */
#define CHECK_CODE(call, want) check_reply_at(__FILE__, __LINE__, (call), (want), NULL)
#define CHECK_ANSWER(call, want, text) check_reply_at(__FILE__, __LINE__, (call), (want), (text))
bool answer_holds(const char *piece);
bool answer_starts(const char *piece);

/* The files of tests. */
void test_calling(void);
void test_handles(void);
void test_files(void);
void test_queries(void);
void test_vectors(void);
void test_changes(void);
void test_durability(void);
void test_schema(void);
void test_threads(void);
void test_hostile(void);

#endif
