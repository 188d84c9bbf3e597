// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What doorbells tell about their poster: who waits, and who posts on and on.
 *
 * Context: pure; times are made up, no device, no network.
 */
#include <kunit/test.h>

#include "../rxe_poster.h"

#define US		1000ULL
#define RUN		(20 * US)

/* A doorbell after a pause, as the multi-CPU rule sees it: no run follows */
static bool rings_after(struct rxe_poster *poster, u64 *now, u64 pause)
{
	bool streams;

	*now += pause;
	streams = rxe_poster_streams(poster, rxe_poster_hurried(poster, *now));
	rxe_poster_left(poster, *now);
	return streams;
}

static struct rxe_poster poster_after_run(u64 now, u64 took)
{
	struct rxe_poster poster = {};

	rxe_poster_ran(&poster, 1, now - took, now);
	rxe_poster_left(&poster, now);
	return poster;
}

static void new_poster_waits(struct kunit *test)
{
	struct rxe_poster poster = {};
	u64 now = 1;

	KUNIT_EXPECT_FALSE(test, rings_after(&poster, &now, 0));
	KUNIT_EXPECT_FALSE(test, rings_after(&poster, &now, 0));
	KUNIT_EXPECT_FALSE(test, rings_after(&poster, &now, 0));
}

static void who_takes_as_long_as_a_run_waits(struct kunit *test)
{
	u64 now = 100 * US;
	struct rxe_poster poster = poster_after_run(now, RUN);

	for (int i = 0; i < 100; i++)
		KUNIT_EXPECT_FALSE(test, rings_after(&poster, &now, RUN));
}

static void who_is_back_sooner_streams(struct kunit *test)
{
	u64 now = 100 * US;
	struct rxe_poster poster = poster_after_run(now, RUN);

	for (int i = 1; i < RXE_POSTER_STREAM; i++)
		KUNIT_EXPECT_FALSE(test, rings_after(&poster, &now, US));
	for (int i = 0; i < RXE_POSTER_MAX_QUICK; i++)
		KUNIT_EXPECT_TRUE(test, rings_after(&poster, &now, US));
}

static void one_pause_does_not_end_a_stream(struct kunit *test)
{
	u64 now = 100 * US;
	struct rxe_poster poster = poster_after_run(now, RUN);

	for (int i = 0; i < 2 * RXE_POSTER_MAX_QUICK; i++)
		rings_after(&poster, &now, US);
	KUNIT_EXPECT_TRUE(test, rings_after(&poster, &now, 10 * RUN));
	KUNIT_EXPECT_TRUE(test, rings_after(&poster, &now, US));
}

/* However long the stream was, a few pauses show that it is over */
static void pauses_end_a_stream(struct kunit *test)
{
	u64 now = 100 * US;
	struct rxe_poster poster = poster_after_run(now, RUN);
	int pauses = 0;

	for (int i = 0; i < 1000; i++)
		rings_after(&poster, &now, 0);
	poster.run = RUN;
	while (rings_after(&poster, &now, 10 * RUN))
		KUNIT_ASSERT_LT(test, ++pauses, 4);
}

/* The one run that was measured may have been interrupted for long */
static void a_long_run_is_forgotten(struct kunit *test)
{
	u64 now = 1000 * US;
	struct rxe_poster poster = poster_after_run(now, 500 * US);
	int rings = 0;

	KUNIT_EXPECT_EQ(test, poster.run, RXE_POSTER_MAX_RUN);
	do {
		KUNIT_ASSERT_LT(test, ++rings, 1000);
	} while (rings_after(&poster, &now, 5 * US) || poster.quick);
	KUNIT_EXPECT_LE(test, poster.run, 11 * US);
}

/*
 * A doorbell as the single-CPU rule sees it, with @waiting others, and one more
 * or none afterwards. In a batch each but the first costs a quarter of a run.
 */
static bool corks_after(struct rxe_poster *poster, u64 *now, u64 pause,
			u32 *waiting)
{
	bool quick, corks;

	*now += pause;
	++*waiting;
	quick = rxe_poster_hurried(poster, *now);
	rxe_poster_counts(poster, quick);
	corks = rxe_poster_streams(poster, quick) && quick &&
		rxe_poster_corks(poster, *waiting);
	if (!corks) {
		u64 took = RUN + (*waiting - 1) * (RUN / 4);

		rxe_poster_ran(poster, *waiting, *now, *now + took);
		*now += took;
		*waiting = 0;
	}
	rxe_poster_left(poster, *now);
	return corks;
}

/* Returns how many doorbells of a burst are answered at once */
static int answered(struct kunit *test, struct rxe_poster *poster, u64 *now,
		    int burst, u32 *waiting)
{
	int n = 1;

	KUNIT_EXPECT_FALSE(test, corks_after(poster, now, 10 * RUN, waiting));
	for (int i = 1; i < burst; i++)
		n += !corks_after(poster, now, US, waiting);
	return n;
}

static void a_stream_is_answered_in_batches(struct kunit *test)
{
	struct rxe_poster poster = poster_after_run(0, RUN);
	u32 waiting = 0;
	u64 now = 0;
	int n;

	for (int i = 0; i < 1000 * RXE_POSTER_BATCH; i++) {
		corks_after(&poster, &now, US, &waiting);
		KUNIT_ASSERT_LT(test, waiting, RXE_POSTER_BATCH);
	}
	KUNIT_EXPECT_GT(test, poster.run, RUN / 8);

	waiting = 0;
	n = answered(test, &poster, &now, 8 * RXE_POSTER_BATCH, &waiting);
	KUNIT_EXPECT_LE(test, n, 8 + RXE_POSTER_STREAM);
}

static void who_waits_each_time_is_answered_at_once(struct kunit *test)
{
	struct rxe_poster poster = poster_after_run(0, RUN);
	u32 waiting = 0;
	u64 now = 0;

	for (int i = 0; i < 100; i++)
		KUNIT_EXPECT_FALSE(test, corks_after(&poster, &now, RUN,
						     &waiting));
}

/* The second time it comes, the end of a burst is known; the first always is */
static void the_end_of_a_known_burst_is_answered(struct kunit *test)
{
	for (int burst = 1; burst <= 3 * RXE_POSTER_BATCH; burst++) {
		struct rxe_poster poster = poster_after_run(0, RUN);
		u32 waiting = 0;
		u64 now = 0;

		for (int i = 0; i < 4; i++) {
			waiting = 0;
			answered(test, &poster, &now, burst, &waiting);
		}
		KUNIT_EXPECT_EQ_MSG(test, waiting, 0, "burst of %d", burst);
	}
}

static void a_corked_doorbell_waits_for_some_runs(struct kunit *test)
{
	struct rxe_poster poster = poster_after_run(0, RUN);

	KUNIT_EXPECT_EQ(test, rxe_poster_until(&poster, US),
			US + RXE_POSTER_WAIT * RUN);
}

static void who_has_not_slept_is_awake(struct kunit *test)
{
	struct rxe_poster poster = {};

	KUNIT_EXPECT_FALSE(test, rxe_poster_awake(&poster, 7));
	KUNIT_EXPECT_TRUE(test, rxe_poster_awake(&poster, 7));
	KUNIT_EXPECT_TRUE(test, rxe_poster_awake(&poster, 7));
	KUNIT_EXPECT_FALSE(test, rxe_poster_awake(&poster, 8));
	KUNIT_EXPECT_TRUE(test, rxe_poster_awake(&poster, 8));
}

static struct kunit_case rxe_poster_cases[] = {
	KUNIT_CASE(new_poster_waits),
	KUNIT_CASE(who_takes_as_long_as_a_run_waits),
	KUNIT_CASE(who_is_back_sooner_streams),
	KUNIT_CASE(one_pause_does_not_end_a_stream),
	KUNIT_CASE(pauses_end_a_stream),
	KUNIT_CASE(a_long_run_is_forgotten),
	KUNIT_CASE(a_stream_is_answered_in_batches),
	KUNIT_CASE(who_waits_each_time_is_answered_at_once),
	KUNIT_CASE(the_end_of_a_known_burst_is_answered),
	KUNIT_CASE(a_corked_doorbell_waits_for_some_runs),
	KUNIT_CASE(who_has_not_slept_is_awake),
	{}
};

static struct kunit_suite rxe_poster_suite = {
	.name = "rxe_poster",
	.test_cases = rxe_poster_cases,
};

kunit_test_suite(rxe_poster_suite);
