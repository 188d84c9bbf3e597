// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The window: what a sender may have un-ACKed, on ways that are modelled.
 *
 * Context: pure; the clock is a number, no device, no network.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/prandom.h>

#include "../rxe.h"
#include "../rxe_window.h"

#define FIRST_PSN	0xfffff0	/* wraps */
#define FLIGHTS		200

static struct rxe_window new_window(void)
{
	struct rxe_window w;

	rxe_window_init(&w, FIRST_PSN);
	return w;
}

/* One flight of a sender that always has more: sent at once, ACKed @rtt later */
static u32 fly(struct rxe_window *w, u32 psn, unsigned long *now,
	       unsigned long rtt)
{
	u32 oldest = psn;

	while (!rxe_window_full(w, psn, oldest)) {
		rxe_window_sent(w, psn, *now);
		psn = (psn + 1) & BTH_PSN_MASK;
	}
	*now += rtt;
	if (rxe_window_landed(w, psn))
		rxe_window_land(w, psn, *now);
	return psn;
}

static u32 fly_often(struct rxe_window *w, u32 psn, unsigned long *now,
		     unsigned long rtt, int times)
{
	while (times--)
		psn = fly(w, psn, now, rtt);
	return psn;
}

static void window_grows_to_its_limit(struct kunit *test)
{
	struct rxe_window w = new_window();
	unsigned long now = INITIAL_JIFFIES;
	u32 psn = FIRST_PSN;

	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_FIRST);
	psn = fly(&w, psn, &now, 1);
	KUNIT_EXPECT_EQ(test, w.size, 2 * RXE_WINDOW_FIRST);
	psn = fly_often(&w, psn, &now, 1, FLIGHTS);
	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_MAX);
}

static void window_stays_if_nobody_waits_for_it(struct kunit *test)
{
	struct rxe_window w = new_window();
	u32 psn = FIRST_PSN;
	int i;

	for (i = 0; i < FLIGHTS; i++) {
		KUNIT_ASSERT_FALSE(test, rxe_window_full(&w, psn, psn));
		rxe_window_sent(&w, psn, i);
		psn = (psn + 1) & BTH_PSN_MASK;
		KUNIT_ASSERT_TRUE(test, rxe_window_landed(&w, psn));
		rxe_window_land(&w, psn, i + 1);
	}
	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_FIRST);
}

static void window_lets_out_as_many_as_its_size(struct kunit *test)
{
	struct rxe_window w = new_window();
	u32 oldest = 0xfffffe;

	KUNIT_EXPECT_FALSE(test, rxe_window_full(&w, oldest, oldest));
	KUNIT_EXPECT_FALSE(test, rxe_window_full(&w, oldest + w.size - 1,
						 oldest));
	KUNIT_EXPECT_FALSE(test, w.limits);
	KUNIT_EXPECT_TRUE(test, rxe_window_full(&w, (oldest + w.size) &
						BTH_PSN_MASK, oldest));
	KUNIT_EXPECT_TRUE(test, w.limits);
}

/* Whatever its size is: else both ends would wait for each other */
static void window_asks_before_it_is_full(struct kunit *test)
{
	struct rxe_window w = new_window();
	u32 unasked, sent;

	for (w.size = RXE_WINDOW_MIN; w.size <= RXE_WINDOW_MAX; w.size++) {
		unasked = 0;
		for (sent = 0; !rxe_window_full(&w, FIRST_PSN + sent,
						FIRST_PSN); sent++)
			if (rxe_window_asks(&w, FIRST_PSN + sent, FIRST_PSN,
					    ++unasked))
				unasked = 0;
		KUNIT_EXPECT_EQ(test, sent, w.size);
		KUNIT_EXPECT_EQ_MSG(test, unasked, 0, "size %u", w.size);
	}
}

static void window_becomes_smaller_with_a_queue(struct kunit *test)
{
	struct rxe_window w = new_window();
	unsigned long slow = msecs_to_jiffies(200);
	unsigned long now = 0;
	u32 psn = FIRST_PSN;
	u32 before;

	psn = fly_often(&w, psn, &now, 1, 10);
	before = w.size;
	psn = fly(&w, psn, &now, slow);
	KUNIT_EXPECT_LT(test, w.size, before);
	psn = fly_often(&w, psn, &now, slow, 20);
	KUNIT_EXPECT_EQ(test, w.size, 4);
	psn = fly_often(&w, psn, &now, 1, 40);
	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_MAX);
}

/* Another way to the peer, which nobody tells of */
static void window_gets_used_to_a_longer_way(struct kunit *test)
{
	struct rxe_window w = new_window();
	unsigned long slow = msecs_to_jiffies(200);
	unsigned long now = 0;
	u32 psn = FIRST_PSN;

	psn = fly_often(&w, psn, &now, 1, 10);
	psn = fly_often(&w, psn, &now, slow, 50);
	KUNIT_EXPECT_EQ(test, w.size, 4);
	psn = fly_often(&w, psn, &now, slow, FLIGHTS);
	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_MAX);
	/* and back */
	psn = fly_often(&w, psn, &now, 1, 10);
	psn = fly_often(&w, psn, &now, slow, 20);
	KUNIT_EXPECT_EQ(test, w.size, 4);
}

/* As soon as one begins: doubling would have it overflow */
static void window_stops_to_double_with_a_queue(struct kunit *test)
{
	struct rxe_window w = new_window();
	unsigned long now = 0;
	u32 psn = FIRST_PSN;

	psn = fly_often(&w, psn, &now, 1, 2);
	KUNIT_ASSERT_EQ(test, w.size, 4 * RXE_WINDOW_FIRST);
	psn = fly(&w, psn, &now, 1 + msecs_to_jiffies(15));
	KUNIT_EXPECT_EQ(test, w.size, 4 * RXE_WINDOW_FIRST);
	psn = fly(&w, psn, &now, 1);
	KUNIT_EXPECT_EQ(test, w.size, 4 * RXE_WINDOW_FIRST * 9 / 8);
}

/* A long way is not a queue */
static void window_grows_over_a_long_way(struct kunit *test)
{
	struct rxe_window w = new_window();
	unsigned long now = 0;
	u32 psn = FIRST_PSN;

	psn = fly_often(&w, psn, &now, msecs_to_jiffies(200), 30);
	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_MAX);
}

static void window_halves_once_per_flight(struct kunit *test)
{
	struct rxe_window w = new_window();
	unsigned long now = 0;
	u32 psn = FIRST_PSN;
	u32 before = w.size;

	rxe_window_overflowed(&w, psn + 20);
	KUNIT_EXPECT_EQ(test, w.size, before / 2);
	rxe_window_overflowed(&w, psn + 22);
	KUNIT_EXPECT_EQ(test, w.size, before / 2);

	/* the flight ends with what is sent after the loss */
	KUNIT_EXPECT_FALSE(test, rxe_window_landed(&w, psn + 20));
	psn = fly(&w, psn + 20, &now, 1);
	KUNIT_EXPECT_EQ(test, w.size, before / 2);
	rxe_window_overflowed(&w, psn);
	KUNIT_EXPECT_EQ(test, w.size, before / 4);
}

static void window_never_closes(struct kunit *test)
{
	struct rxe_window w = new_window();
	unsigned long now = 0;
	u32 psn = FIRST_PSN;
	int i;

	for (i = 0; i < 10; i++) {
		rxe_window_overflowed(&w, psn);
		psn = fly(&w, psn, &now, 1);
	}
	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_MIN);
	rxe_window_silent(&w, psn);
	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_MIN);
	psn = fly_often(&w, psn, &now, 1, 60);
	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_MAX);
}

static void window_is_half_soon_after_silence(struct kunit *test)
{
	struct rxe_window w = new_window();
	unsigned long now = 0;
	u32 psn = FIRST_PSN;

	psn = fly_often(&w, psn, &now, 1, 10);
	KUNIT_ASSERT_EQ(test, w.size, RXE_WINDOW_MAX);
	rxe_window_silent(&w, psn);
	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_MIN);
	psn = fly_often(&w, psn, &now, 1, 6);
	KUNIT_EXPECT_EQ(test, w.size, RXE_WINDOW_MAX / 2);
}

/* At one packet in a hundred, lost by chance, it settles above 32 */
static void window_stays_useful_with_chance_losses(struct kunit *test)
{
	struct rxe_window w = new_window();
	struct rnd_state rnd;
	unsigned long now = 0;
	u32 psn = FIRST_PSN;
	u64 sum = 0;
	u32 i, j, sent;

	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 50 * FLIGHTS; i++) {
		sent = w.size;
		for (j = 0; j < sent; j++)
			if (!(prandom_u32_state(&rnd) % 100))
				rxe_window_lost(&w, psn);
		psn = fly(&w, psn, &now, 1);
		sum += w.size;
		KUNIT_ASSERT_GE(test, w.size, RXE_WINDOW_MIN);
	}
	KUNIT_EXPECT_GE(test, div_u64(sum, i), 32);
}

static void window_halves_once_though_more_is_lost(struct kunit *test)
{
	struct rxe_window w = new_window();

	w.size = 64;
	rxe_window_lost(&w, FIRST_PSN + 64);
	KUNIT_EXPECT_EQ(test, w.size, 56);
	rxe_window_overflowed(&w, FIRST_PSN + 64);
	KUNIT_EXPECT_EQ(test, w.size, 28);
	rxe_window_overflowed(&w, FIRST_PSN + 64);
	KUNIT_EXPECT_EQ(test, w.size, 28);
}

/* A way that reorders packets makes many seem to be lost at once */
static void window_keeps_half_in_a_flight(struct kunit *test)
{
	struct rxe_window w = new_window();
	u32 i;

	w.size = 64;
	for (i = 0; i < 64; i++)
		rxe_window_lost(&w, FIRST_PSN + 64);
	KUNIT_EXPECT_EQ(test, w.size, 32);

	rxe_window_land(&w, FIRST_PSN + 128, 1);
	for (i = 0; i < 64; i++)
		rxe_window_lost(&w, FIRST_PSN + 128);
	KUNIT_EXPECT_EQ(test, w.size, 16);
}

/* One that is sent again may have been answered already */
static void window_measures_from_the_first_time(struct kunit *test)
{
	struct rxe_window w = new_window();

	rxe_window_sent(&w, FIRST_PSN, 100);
	rxe_window_sent(&w, FIRST_PSN, 250);
	rxe_window_land(&w, FIRST_PSN + 1, 300);
	KUNIT_EXPECT_EQ(test, w.rtt_min, 200);
	rxe_window_sent(&w, FIRST_PSN + 1, 400);
	rxe_window_land(&w, FIRST_PSN + 2, 450);
	KUNIT_EXPECT_EQ(test, w.rtt_min, 50);
}

/* What TCP's authors call Karn's algorithm */
static void window_measures_no_flight_with_a_loss(struct kunit *test)
{
	struct rxe_window w = new_window();
	unsigned long now = 100;
	u32 psn = FIRST_PSN;

	psn = fly(&w, psn, &now, 50);
	rxe_window_overflowed(&w, psn);
	psn = fly(&w, psn, &now, 3);
	KUNIT_EXPECT_EQ(test, w.rtt_min, 50);
	psn = fly(&w, psn, &now, 4);
	KUNIT_EXPECT_EQ(test, w.rtt_min, 4);
}

static struct kunit_case rxe_window_cases[] = {
	KUNIT_CASE(window_grows_to_its_limit),
	KUNIT_CASE(window_stays_if_nobody_waits_for_it),
	KUNIT_CASE(window_lets_out_as_many_as_its_size),
	KUNIT_CASE(window_asks_before_it_is_full),
	KUNIT_CASE(window_becomes_smaller_with_a_queue),
	KUNIT_CASE(window_gets_used_to_a_longer_way),
	KUNIT_CASE(window_stops_to_double_with_a_queue),
	KUNIT_CASE(window_grows_over_a_long_way),
	KUNIT_CASE(window_halves_once_per_flight),
	KUNIT_CASE(window_never_closes),
	KUNIT_CASE(window_is_half_soon_after_silence),
	KUNIT_CASE(window_stays_useful_with_chance_losses),
	KUNIT_CASE(window_halves_once_though_more_is_lost),
	KUNIT_CASE(window_keeps_half_in_a_flight),
	KUNIT_CASE(window_measures_from_the_first_time),
	KUNIT_CASE(window_measures_no_flight_with_a_loss),
	{}
};

static struct kunit_suite rxe_window_suite = {
	.name = "rxe_window",
	.test_cases = rxe_window_cases,
};

kunit_test_suite(rxe_window_suite);
