// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * When a sender that hears nothing sends again, and when it has to give up.
 *
 * Context: pure; the clock is a number, no device, no network.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>

#include "../rxe_rto.h"

#define START		INITIAL_JIFFIES		/* wraps soon */
#define SLACK		msecs_to_jiffies(RXE_RTO_SLACK_MS)

struct rto_case {
	const char *name;
	unsigned long timeout;		/* in jiffies */
	unsigned long rtt;
	u32 most;			/* retries before the timeout */
};

static const struct rto_case rto_cases[] = {
	{ "one jiffy", 1, 1, 1 },
	{ "as long as a round trip", 50, 50, 1 },
	{ "perftest's, 67 ms", HZ / 15 + 1, 1, 5 },
	{ "the CM's, 4 s", 4 * HZ, 1, 12 },
	{ "hours", 10000 * HZ, 1, 30 },
};

KUNIT_ARRAY_PARAM_DESC(rto, rto_cases, name);

static struct rxe_rto new_rto(unsigned long rtt)
{
	struct rxe_rto rto;
	int i;

	rxe_rto_init(&rto);
	for (i = 0; i < 100; i++)
		rxe_rto_measured(&rto, rtt);
	return rto;
}

/* Nothing is ever heard: the QP's timeouts pass as if there were no others */
static void rto_counts_timeouts_when_they_pass(struct kunit *test)
{
	const struct rto_case *c = test->param_value;
	struct rxe_rto rto = new_rto(c->rtt);
	unsigned long now = START;
	unsigned long failed = START;
	u32 early = 0, count = 0;

	rxe_rto_sent(&rto, now);
	while (count < 7) {
		unsigned long end = rxe_rto_ends(&rto, c->timeout);

		KUNIT_ASSERT_TRUE(test, time_after(end, now));
		KUNIT_ASSERT_TRUE(test, time_before_eq(end,
						       now + c->timeout));
		now = end;
		if (rxe_rto_expired(&rto, c->timeout, now)) {
			KUNIT_EXPECT_EQ(test, now - failed, c->timeout);
			KUNIT_EXPECT_LE(test, early, c->most);
			failed = now;
			early = 0;
			count++;
		} else {
			early++;
		}
		/* the oldest packet again */
		rxe_rto_sent(&rto, now);
	}
}

static void rto_follows_the_round_trip(struct kunit *test)
{
	struct rxe_rto rto = new_rto(1);

	rxe_rto_sent(&rto, START);
	KUNIT_EXPECT_EQ(test, rxe_rto_ends(&rto, 1000 * HZ),
			START + 2 + SLACK);
	rxe_rto_measured(&rto, 100);
	KUNIT_EXPECT_EQ(test, rxe_rto_ends(&rto, 1000 * HZ),
			START + 200 + SLACK);
	rxe_rto_measured(&rto, 1);
	KUNIT_EXPECT_LT(test, rto.rtt, 100);
	KUNIT_EXPECT_GT(test, rto.rtt, 80);
}

static void rto_begins_again_with_an_answer(struct kunit *test)
{
	struct rxe_rto rto = new_rto(1);
	unsigned long timeout = 1000 * HZ;

	rxe_rto_sent(&rto, START);
	KUNIT_EXPECT_FALSE(test, rxe_rto_expired(&rto, timeout, START + 20));
	KUNIT_EXPECT_FALSE(test, rxe_rto_expired(&rto, timeout, START + 60));
	KUNIT_EXPECT_EQ(test, rxe_rto_ends(&rto, timeout),
			START + 60 + 4 * (2 + SLACK));
	rxe_rto_heard(&rto, START + 70);
	KUNIT_EXPECT_EQ(test, rxe_rto_ends(&rto, timeout),
			START + 70 + 2 + SLACK);
	KUNIT_EXPECT_FALSE(test, rxe_rto_expired(&rto, timeout,
						 START + 69 + timeout));
	KUNIT_EXPECT_TRUE(test, rxe_rto_expired(&rto, timeout,
						START + 70 + timeout));
}

/* What is sent again does not put off the end */
static void rto_remembers_when_it_heard_last(struct kunit *test)
{
	struct rxe_rto rto = new_rto(1);

	rxe_rto_sent(&rto, START);
	KUNIT_EXPECT_FALSE(test, rxe_rto_expired(&rto, 100, START + 50));
	rxe_rto_sent(&rto, START + 50);
	KUNIT_EXPECT_TRUE(test, rxe_rto_expired(&rto, 100, START + 100));
}

static void rto_is_short_for_what_this_host_dropped(struct kunit *test)
{
	struct rxe_rto rto = new_rto(100);

	rxe_rto_sent(&rto, START);
	rxe_rto_drop(&rto, START + 3);
	KUNIT_EXPECT_EQ(test, rxe_rto_ends(&rto, 1000 * HZ),
			START + 3 + RXE_RTO_DROPPED);
	KUNIT_EXPECT_EQ(test, rxe_rto_ends(&rto, 1), START + 1);
}

static struct kunit_case rxe_rto_cases[] = {
	KUNIT_CASE_PARAM(rto_counts_timeouts_when_they_pass, rto_gen_params),
	KUNIT_CASE(rto_follows_the_round_trip),
	KUNIT_CASE(rto_begins_again_with_an_answer),
	KUNIT_CASE(rto_remembers_when_it_heard_last),
	KUNIT_CASE(rto_is_short_for_what_this_host_dropped),
	{}
};

static struct kunit_suite rxe_rto_suite = {
	.name = "rxe_rto",
	.test_cases = rxe_rto_cases,
};

kunit_test_suite(rxe_rto_suite);
