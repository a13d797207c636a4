/* bench_vectors.cpp - vectors: @hnsw indexes through fenec.h beside hnswlib on one thread, the same vectors, m and
 * ef_construction in one run. Speed is compared at equal recall: each side gets the smallest beam that reaches it.
 *
 * A row that is found counts for the recall where it is no farther than the last one of `exact`: among equal
 * vectors it is all the same which are found.
 *
 *   bench_vectors [vectors] [part...]   100000 without; parts: plain clustered duplicates wide codes filter load */
#include <hnswlib/hnswlib.h>

#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "compare.h"
#include "fenec.h"

namespace {

enum { QUERIES = 500, K = 10, M = 16, EF_CONSTRUCTION = 200, BEAM_MAX = 4096 };

/* ---- data ---- */

struct points {
    size_t count, dimension;
    std::vector<float> at; /* at[count * dimension] */
    const float *of(size_t i) const { return &at[i * dimension]; }
    float *of(size_t i) { return &at[i * dimension]; }
};

struct shape {
    const char *name;
    size_t count, dimension, centres;
    double spread; /* of a vector around its centre, whose components are of 1 */
    size_t copies; /* of each vector */
};

double draw_normal(uint64_t *state)
{
    double u = ((double)(draw(state) >> 11) + 1) / 9007199254740993.0;
    double v = (double)(draw(state) >> 11) / 9007199254740992.0;

    return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

/* `of` seeds what is drawn around the centres, which are those of the shape. */
points draw_points(const shape &s, size_t count, uint64_t of, size_t copies)
{
    std::vector<float> centres(s.centres * s.dimension);
    points p = {count, s.dimension, std::vector<float>(count * s.dimension)};
    uint64_t state = 1000 + s.centres;

    for (float &c : centres)
        c = (float)draw_normal(&state);
    state = of;
    for (size_t i = 0; i < count; i++) {
        if (i % copies) { /* not beside the one it is a copy of */
            size_t like = draw(&state) % (i / copies + 1) * copies;
            std::copy(p.of(like), p.of(like) + s.dimension, p.of(i));
            continue;
        }
        const float *centre = &centres[draw(&state) % s.centres * s.dimension];
        for (size_t k = 0; k < s.dimension; k++)
            p.of(i)[k] = centre[k] + (float)(s.spread * draw_normal(&state));
    }
    return p;
}

double cosine(const float *a, const float *b, size_t n)
{
    double dot = 0, aa = 0, bb = 0;

    for (size_t i = 0; i < n; i++) {
        dot += (double)a[i] * b[i];
        aa += (double)a[i] * a[i];
        bb += (double)b[i] * b[i];
    }
    return dot / std::sqrt(aa * bb);
}

/* ---- our side ---- */

const char *program; /* this one */

struct database {
    uint64_t handle;
    std::string folder;
    bool made; /* the folder, which goes with it */

    explicit database(const char *there) : folder(there), made(false) { open(); }
    database() : made(true)
    {
        char name[256];
        snprintf(name, sizeof name, "%s/fenec-bench-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
        must(mkdtemp(name) != NULL, "mkdtemp");
        folder = name;
        open();
    }
    ~database()
    {
        close();
        must(!made || system(("rm -rf " + folder).c_str()) == 0, "rm");
    }
    void open()
    {
        std::string path = folder + "/vectors";
        must(fenec_open((const uint8_t *)path.data(), path.size(), FENEC_OPEN_NO_SYNC, &handle, NULL, NULL) == FENEC_OK,
             "open");
    }
    void close() { fenec_close(handle, NULL, NULL); }

    std::string run(const std::string &text, const std::string &params, const std::string &vectors)
    {
        char *out;
        size_t len;
        int code = fenec_query(handle, (const uint8_t *)text.data(), text.size(), (const uint8_t *)params.data(),
                               params.size(), (const uint8_t *)vectors.data(), vectors.size(), &out, &len);
        std::string answer(out ? out : "", out ? len : 0);
        fenec_free_string(out);
        if (code != FENEC_OK) {
            fprintf(stderr, "bench: %s: %s\n", text.c_str(), answer.c_str());
            exit(1);
        }
        return answer;
    }
    std::string run(const std::string &text) { return run(text, "", ""); }
    void warm() { must(fenec_warm(handle, NULL, 0, NULL, NULL) == FENEC_OK, "warm"); }
};

/* A vector as entry `place` of the vectors of a call. */
void put_vector(std::string &to, uint32_t place, const float *v, size_t dimension)
{
    uint32_t head[2] = {place, (uint32_t)dimension};

    to.append((const char *)head, sizeof head);
    to.append((const char *)v, dimension * sizeof *v);
}

/* Rows from..to: their ids are their places + 1; n says what a filter passes, in percent. */
void put_rows(database &d, const points &p, size_t from, size_t to)
{
    std::string text = "put v [", params = "[", vectors;

    for (size_t i = from; i < to; i++) {
        unsigned n = (unsigned)(i * 2654435761u % 4294967296u >> 7) % 100;
        text += (i > from ? ", {n: " : "{n: ") + std::to_string(n) + ", plain: " + std::to_string(n) + ", e: $" +
                std::to_string(i - from + 1) + "}";
        params += i > from ? ",null" : "null";
        put_vector(vectors, (uint32_t)(i - from), p.of(i), p.dimension);
    }
    d.run(text + "]", params + "]", vectors);
}

void fill(database &d, const points &p, const std::string &options)
{
    d.run("create collection v (n int @sorted, plain int, e vector<" + std::to_string(p.dimension) + ">" + options + ")");
    for (size_t i = 0; i < p.count; i += 500)
        put_rows(d, p, i, std::min(i + 500, p.count));
}

/* The places that an answer names. */
size_t places(const std::string &answer, uint32_t out[K])
{
    size_t count = 0, at = 0;

    while (count < K && (at = answer.find("\"id\":", at)) != std::string::npos)
        out[count++] = (uint32_t)strtoul(&answer[at += 5], NULL, 10) - 1;
    return count;
}

/* A query of ours without what is done once. */
struct asking {
    database &d;
    std::string text, vectors;
    size_t dimension;

    asking(database &of, size_t width, const std::string &where, const std::string &how)
        : d(of), text("get v select id " + where + " near e $1 " + how + " limit 10"), dimension(width)
    {
    }
    size_t ask(const float *q, uint32_t out[K])
    {
        char *answer;
        size_t len;
        vectors.clear();
        put_vector(vectors, 0, q, dimension);
        must(fenec_query(d.handle, (const uint8_t *)text.data(), text.size(), (const uint8_t *)"[null]", 6,
                         (const uint8_t *)vectors.data(), vectors.size(), &answer, &len) == FENEC_OK,
             text.c_str());
        size_t count = out ? places(std::string(answer, len), out) : 0;
        fenec_free_string(answer);
        return count;
    }
};

std::string beam(size_t ef) { return "ef " + std::to_string(ef); }

/* ---- recall ---- */

struct truth {
    const points *p, *q;
    std::vector<double> last; /* cosine of the last row of `exact`, by query */
    size_t rows;              /* of its answers together */
};

truth find_truth(database &d, const points &p, const points &q, const std::string &where)
{
    truth t = {&p, &q, std::vector<double>(q.count), 0};
    asking a(d, p.dimension, where, "exact");

    for (size_t i = 0; i < q.count; i++) {
        uint32_t out[K];
        size_t count = a.ask(q.of(i), out);
        t.rows += count;
        t.last[i] = count ? cosine(q.of(i), p.of(out[count - 1]), p.dimension) : 2;
    }
    return t;
}

template <typename find> double recall(const truth &t, find &&answers)
{
    size_t found = 0;

    for (size_t i = 0; i < t.q->count; i++) {
        uint32_t out[K];
        size_t count = answers(t.q->of(i), out);
        for (size_t k = 0; k < count; k++)
            found += cosine(t.q->of(i), t.p->of(out[k]), t.p->dimension) >= t.last[i] - 1e-6;
    }
    return (double)found / (double)t.rows;
}

double our_recall(const truth &t, database &d, const std::string &where, const std::string &how)
{
    asking a(d, t.p->dimension, where, how);

    return recall(t, [&](const float *q, uint32_t *out) { return a.ask(q, out); });
}

/* The smallest beam of that recall, BEAM_MAX + 1: there is none. */
template <typename measured> size_t smallest(double least, measured &&of)
{
    size_t low = K - 1, high = K;

    while (high <= BEAM_MAX && of(high) < least) {
        low = high;
        high *= 2;
    }
    if (high > BEAM_MAX)
        return BEAM_MAX + 1;
    while (high - low > 1 && (high - low) * 16 > high) {
        size_t middle = low + (high - low) / 2;
        (of(middle) < least ? low : high) = middle;
    }
    return high;
}

/* ---- a line ---- */

void print(const std::string &work, double ours, double theirs, double value, double target, bool at_least)
{
    bool good = at_least ? value >= target : value <= target;

    printf("%-58s %10.2f %10.2f %8.3f %8.3f  %s\n", work.c_str(), ours, theirs, value, target, good ? "ok" : "MISSED");
    fflush(stdout);
}

double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v.empty() ? 0 : v[v.size() / 2];
}

/* Microseconds a query, by turns: the medians over the rounds. */
template <typename one, typename other> void time_both(const points &q, one &&a, other &&b, double *ours, double *theirs)
{
    std::vector<double> all_a, all_b;

    for (int round = 0; round < 6; round++) {
        double start = now_us();
        for (size_t i = 0; i < q.count; i++)
            a(q.of(i));
        double middle = now_us();
        for (size_t i = 0; i < q.count; i++)
            b(q.of(i));
        if (round) { /* the first warms */
            all_a.push_back((middle - start) / (double)q.count);
            all_b.push_back((now_us() - middle) / (double)q.count);
        }
    }
    *ours = median(all_a);
    *theirs = median(all_b);
}

/* ---- beside hnswlib ---- */

struct hnsw {
    hnswlib::InnerProductSpace space;
    hnswlib::HierarchicalNSW<float> graph;
    size_t dimension;
    std::vector<float> unit;

    explicit hnsw(const points &p)
        : space(p.dimension), graph(&space, p.count, M, EF_CONSTRUCTION), dimension(p.dimension), unit(p.dimension)
    {
        for (size_t i = 0; i < p.count; i++)
            graph.addPoint(normal(p.of(i)), i);
    }
    const float *normal(const float *v)
    {
        double squares = 0;
        for (size_t i = 0; i < dimension; i++)
            squares += (double)v[i] * v[i];
        for (size_t i = 0; i < dimension; i++)
            unit[i] = v[i] / (float)std::sqrt(squares);
        return unit.data();
    }
    size_t ask(const float *q, uint32_t *out)
    {
        auto found = graph.searchKnn(normal(q), K);
        size_t count = found.size();
        for (size_t i = count; i-- > 0; found.pop())
            if (out)
                out[i] = (uint32_t)found.top().second;
        return count;
    }
};

void compare_at(double least, const truth &t, database &d, hnsw &h, const char *name)
{
    char work[100];
    double ours, theirs;
    size_t our_beam = smallest(least, [&](size_t ef) { return our_recall(t, d, "", beam(ef)); });
    size_t their_beam = smallest(least, [&](size_t ef) {
        h.graph.setEf(ef);
        return recall(t, [&](const float *q, uint32_t *out) { return h.ask(q, out); });
    });

    snprintf(work, sizeof work, "near, %s, recall %.3f, beams %zu and %zu, us", name, least, our_beam, their_beam);
    if (our_beam > BEAM_MAX || their_beam > BEAM_MAX) {
        printf("%-58s a beam of %d does not reach it: %s\n", work, BEAM_MAX,
               our_beam > BEAM_MAX && their_beam > BEAM_MAX ? "both" : our_beam > BEAM_MAX ? "fenec, MISSED" : "hnswlib, ok");
        return;
    }
    h.graph.setEf(their_beam);
    asking a(d, t.p->dimension, "", beam(our_beam));
    time_both(
        *t.q, [&](const float *q) { a.ask(q, NULL); }, [&](const float *q) { h.ask(q, NULL); }, &ours, &theirs);
    print(work, ours, theirs, ours / theirs, 1, false);
}

void beside(const shape &s)
{
    points p = draw_points(s, s.count, 1, s.copies), q = draw_points(s, QUERIES, 2, 1);
    database d;

    fill(d, p, "");
    double start = now_us();
    d.run("create index on v (e) @hnsw(cosine, m=16, ef_construction=200)");
    d.warm();
    double middle = now_us();
    hnsw h(p);
    double ours = (middle - start) / 1e6, theirs = (now_us() - middle) / 1e6;
    print(std::string("build, ") + s.name + ", s", ours, theirs, ours / theirs, 1.2, false);
    truth t = find_truth(d, p, q, "");
    compare_at(0.99, t, d, h, s.name);
    compare_at(0.999, t, d, h, s.name);
}

/* ---- codes ---- */

/* Anonymous memory that the process holds: pages that are there, whoever asked for them. SQLite's cache of the file's
 * pages aside, which has a bound of its own and fills with whatever is read. */
double held_bytes()
{
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    char line[200];
    double kib = -1;

    must(f != NULL, "/proc/self/smaps_rollup");
    while (kib < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "Anonymous: %lf", &kib) != 1)
            kib = -1;
    fclose(f);
    must(kib >= 0, "Anonymous of smaps_rollup");
    return kib * 1024 - (double)sqlite3_memory_used();
}

/* A process of its own, which only opens the file: bytes it holds after a first read, after the first search, and
 * how long that took; then what the index says of itself. */
int measure_held(const char *folder, size_t dimension)
{
    std::vector<float> q(dimension, 1.0f);
    std::string vectors;
    database d(folder);

    d.run("get v select id limit 1");
    put_vector(vectors, 0, q.data(), dimension);
    double before = held_bytes(), start = now_us();
    d.run("get v select id near e $1 limit 10", "[null]", vectors);
    double took = (now_us() - start) / 1000, after = held_bytes();
    std::string steps = d.run("explain get v near e $1 limit 1", "[null]", vectors);
    size_t at = steps.find("the index holds"), end = at == std::string::npos ? at : steps.find('"', at);
    printf("%.0f %.0f %.3f %s\n", before, after, took, end == std::string::npos ? "" : steps.substr(at, end - at).c_str());
    return 0;
}

/* How much memory the first search brings in, over that of the vectors or codes and links. */
void hold(database &d, const points &p, double item, const char *name)
{
    char line[400] = "", said[300] = "";
    double before, after, took;

    d.close();
    FILE *child = popen((std::string(program) + " held " + d.folder + " " + std::to_string(p.dimension)).c_str(), "r");
    must(child && fgets(line, sizeof line, child) && pclose(child) == 0, "a process of its own");
    must(sscanf(line, "%lf %lf %lf %299[^\n]", &before, &after, &took, said) >= 3, line);
    d.open();
    double start = now_us();
    put_rows(d, p, 0, 1);
    double wrote = (now_us() - start) / 1000;
    double links = (double)p.count * (2 * M + M / (M - 1.0)) * 4; /* of layer 0, and of those above */
    double least = ((double)p.count * item + links) / 1048576, held = (after - before) / 1048576;
    print(std::string("memory, ") + name + ", MiB held and of items and links", held, least, held / least, 1.15, false);
    printf("  a process of its own: %.2f MiB of anonymous pages before its first near, %.2f after it, SQLite's cache aside; %s\n",
           before / 1048576, after / 1048576, said);
    print(std::string("first search after an open, ") + name + ", ms", took, 0, took, 1000, false);
    print(std::string("first write after an open, ") + name + ", ms", wrote, 0, wrote, 10, false);
}

double find_recall(database &d, const points &p, const points &q, double *us)
{
    truth t = find_truth(d, p, q, "");
    double got = our_recall(t, d, "", ""), unused;
    asking a(d, p.dimension, "", "");

    time_both(
        q, [&](const float *v) { a.ask(v, NULL); }, [](const float *) {}, us, &unused);
    return got;
}

void codes(size_t count)
{
    const shape plain = {"plain", count, 128, 1000, 0.5, 1}, wide = {"wide", count / 5, 768, 200, 0.3, 1};
    double us, floats, bytes, bits;

    {
        points p = draw_points(plain, plain.count, 1, 1), q = draw_points(plain, QUERIES, 2, 1);
        {
            database d;
            fill(d, p, " @hnsw(cosine)");
            d.warm();
            floats = find_recall(d, p, q, &us);
            printf("near at the default beam, 128 floats: recall %.4f, %.1f us\n", floats, us);
            hold(d, p, 128 * 4, "floats");
        }
        database d;
        fill(d, p, " @hnsw(cosine, quant=int8)");
        d.warm();
        bytes = find_recall(d, p, q, &us);
        printf("near at the default beam, 128 bytes: recall %.4f, %.1f us\n", bytes, us);
        print("int8: recall lost at the default beam", floats, bytes, floats - bytes, 0.01, false);
        hold(d, p, 128 + 4, "int8");
    }
    points p = draw_points(wide, wide.count, 1, 1), q = draw_points(wide, QUERIES, 2, 1);
    database d;
    fill(d, p, " @hnsw(cosine, quant=bit)");
    d.warm();
    bits = find_recall(d, p, q, &us);
    printf("near at the default beam, 768 bits: recall %.4f, %.1f us\n", bits, us);
    print("bit: recall at the default beam", bits, 0, bits, 0.9, true);
    hold(d, p, 768 / 8 + 12 + 128.0 * 769 * 4 / (double)p.count, "bit");
}

/* ---- filters ---- */

void filter_by(database &d, const points &p, const points &q, const std::string &where, double plain_us, double most)
{
    truth t = find_truth(d, p, q, where);
    double got = our_recall(t, d, where, "ef 100"), us, unused;
    asking a(d, p.dimension, where, "ef 100");

    time_both(
        q, [&](const float *v) { a.ask(v, NULL); }, [](const float *) {}, &us, &unused);
    print("near " + where + ": recall", got, 0, got, 0.95, true);
    if (most > 0)
        print("near " + where + ", us, and without", us, plain_us, us / plain_us, most, false);
    else
        printf("near %s, without an index on it: %.1f us, %.1f times the time without\n", where.c_str(), us,
               us / plain_us);
}

void filters(size_t count)
{
    const shape s = {"plain", count, 128, 1000, 0.5, 1};
    points p = draw_points(s, s.count, 1, 1), q = draw_points(s, 200, 2, 1);
    double us, unused;
    database d;

    fill(d, p, " @hnsw(cosine)");
    d.warm();
    asking a(d, p.dimension, "", "ef 100");
    time_both(
        q, [&](const float *v) { a.ask(v, NULL); }, [](const float *) {}, &us, &unused);
    filter_by(d, p, q, "where n < 1", us, 1.5);
    filter_by(d, p, q, "where n < 30", us, 4);
    filter_by(d, p, q, "where plain < 1", us, 0);
    filter_by(d, p, q, "where plain < 30", us, 0);
}

/* ---- beside a load ---- */

void load(size_t count)
{
    const shape s = {"plain", count, 128, 1000, 0.5, 1};
    points p = draw_points(s, s.count, 1, 1), q = draw_points(s, QUERIES, 2, 1);
    std::atomic<bool> done(false);
    std::vector<double> took;
    database d;

    d.run("create collection v (n int, plain int, e vector<128> @hnsw(cosine))");
    put_rows(d, p, 0, 500);
    std::thread writer([&] {
        for (size_t i = 500; i < p.count; i += 500)
            put_rows(d, p, i, std::min(i + 500, p.count));
        done = true;
    });
    asking a(d, 128, "", "");
    for (size_t i = 0; !done; i++) {
        double start = now_us();
        a.ask(q.of(i % q.count), NULL);
        took.push_back((now_us() - start) / 1000);
    }
    writer.join();
    std::sort(took.begin(), took.end());
    auto at = [&](size_t percent) { return took[(took.size() - 1) * percent / 100]; };
    print("near beside a load, ms", at(50), 0, at(50), 10, false);
    printf("  of %zu: 90 %% within %.1f ms, 95 %% %.1f, 99 %% %.1f, the slowest %.1f\n", took.size(), at(90), at(95), at(99),
           took.back());
}

} // namespace

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 4 && !strcmp(argv[1], "held"))
        return measure_held(argv[2], strtoul(argv[3], NULL, 10));

    const size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    auto asked = [&](const char *part) {
        bool any = argc <= 2;
        for (int i = 2; i < argc; i++)
            any |= !strcmp(argv[i], part);
        return any;
    };

    printf("%-58s %10s %10s %8s %8s\n", "vectors", "fenec", "hnswlib", "ratio", "target");
    if (asked("plain"))
        beside({"plain", count, 128, 1000, 0.5, 1});
    if (asked("clustered"))
        beside({"clustered", count, 128, 100, 0.1, 1});
    if (asked("duplicates"))
        beside({"one vector in 5 rows", count, 128, 1000, 0.5, 5});
    if (asked("wide"))
        beside({"768 wide", count / 5, 768, 200, 0.5, 1});
    if (asked("codes"))
        codes(count);
    if (asked("filter"))
        filters(count);
    if (asked("load"))
        load(count);
    return 0;
}
