/* test_changes.c - the change counter and its memory (chapter 5 section 11, chapter 2 section 18). */
#include <stdio.h>
#include <string.h>

#include "check.h"

static void changes_name_what_was_written_in_order_of_creation(void)
{
    uint64_t h = memory_database();

    CHECK_ANSWER(changes(h, 0), FENEC_OK, "{\"seq\":0,\"horizon\":0,\"collections\":[]}");
    CHECK_CODE(query(h, "create collection b (n int); create collection a (n int)"), FENEC_OK);
    CHECK_ANSWER(changes(h, 0), FENEC_OK, "{\"seq\":2,\"horizon\":0,\"collections\":[\"b\",\"a\"]}");
    CHECK_CODE(query(h, "put a [{n: 1}, {n: 2}]"), FENEC_OK);
    CHECK_ANSWER(changes(h, 2), FENEC_OK, "{\"seq\":4,\"horizon\":0,\"collections\":[\"a\"]}");
    CHECK_ANSWER(changes(h, 4), FENEC_OK, "{\"seq\":4,\"horizon\":0,\"collections\":[]}");
    CHECK_ANSWER(changes(h, 5), FENEC_OK, "{\"seq\":4,\"horizon\":0,\"collections\":null}");
    CHECK_CODE(query(h, "del a where n = 9"), FENEC_OK);
    CHECK_CODE(query(h, "create collection if not exists a (n int)"), FENEC_OK);
    CHECK_CODE(query(h, "put b {id: 1} if absent; put b {id: 1} if absent; compact"), FENEC_OK);
    CHECK_ANSWER(changes(h, 4), FENEC_OK, "{\"seq\":5,\"horizon\":0,\"collections\":[\"b\"]}");
    CHECK_CODE(query(h, "create index on a (n) @hash"), FENEC_OK);
    CHECK_ANSWER(changes(h, 5), FENEC_OK, "{\"seq\":6,\"horizon\":0,\"collections\":[\"a\"]}");
    CHECK_CODE(query(h, "drop collection b"), FENEC_OK);
    CHECK_ANSWER(changes(h, 5), FENEC_OK, "{\"seq\":7,\"horizon\":0,\"collections\":null}");
    CHECK_ANSWER(changes(h, 7), FENEC_OK, "{\"seq\":7,\"horizon\":0,\"collections\":[]}");
    CHECK_CODE(query(h, "set a {n: 5}"), FENEC_OK);
    CHECK_ANSWER(changes(h, 7), FENEC_OK, "{\"seq\":9,\"horizon\":0,\"collections\":[\"a\"]}");
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void the_memory_is_the_last_4096(void)
{
    uint64_t h = memory_database();
    char want[80];

    CHECK_CODE(query(h, "create collection t (n int)"), FENEC_OK);
    for (int i = 0; i < 4095; i++)
        CHECK_CODE(query(h, "put t {n: 1}"), FENEC_OK);
    CHECK_ANSWER(changes(h, 0), FENEC_OK, "{\"seq\":4096,\"horizon\":0,\"collections\":[\"t\"]}");
    CHECK_CODE(query(h, "put t [{n: 1}, {n: 2}]"), FENEC_OK);
    CHECK_ANSWER(changes(h, 1), FENEC_OK, "{\"seq\":4098,\"horizon\":2,\"collections\":null}");
    CHECK_ANSWER(changes(h, 2), FENEC_OK, "{\"seq\":4098,\"horizon\":2,\"collections\":[\"t\"]}");
    snprintf(want, sizeof want, "{\"seq\":%d,\"horizon\":%d,\"collections\":[]}", 4098, 2);
    CHECK_ANSWER(changes(h, 4098), FENEC_OK, want);
    CHECK_CODE(close_handle(h), FENEC_OK);
}

static void the_counter_outlives_a_close(void)
{
    uint64_t h = 0;

    CHECK_CODE(open_file(temp_path("counter.fenec"), 0, &h), FENEC_OK);
    CHECK_CODE(query(h, "create collection t (n int); put t [{n: 1}, {n: 2}, {n: 3}]; del t where n = 2"), FENEC_OK);
    CHECK_CODE(checkpoint_handle(h), FENEC_OK);
    CHECK_CODE(close_handle(h), FENEC_OK);
    CHECK_CODE(open_file(temp_path("counter.fenec"), 0, &h), FENEC_OK);
    CHECK_ANSWER(changes(h, 4), FENEC_OK, "{\"seq\":5,\"horizon\":5,\"collections\":null}");
    CHECK_ANSWER(changes(h, 5), FENEC_OK, "{\"seq\":5,\"horizon\":5,\"collections\":[]}");
    CHECK_ANSWER(query(h, "del t where n = 3; put t {n: 9} returning id"), FENEC_OK,
                 "{\"kind\":\"rows\",\"result\":{\"columns\":[\"id\"],\"rows\":[{\"id\":4}]}}");
    CHECK_CODE(close_handle(h), FENEC_OK);
}

void test_changes(void)
{
    changes_name_what_was_written_in_order_of_creation();
    the_memory_is_the_last_4096();
    the_counter_outlives_a_close();
}
