// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that have arrived before an earlier one: in which order they leave,
 * and when the earlier one counts as lost.
 *
 * Context: pure; packets are skbs with a PSN and nothing else, no network.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/prandom.h>
#include <linux/skbuff.h>

#include "../rxe.h"
#include "../rxe_hold.h"

#define FIRST_PSN	0xfffffa	/* wraps */
#define NOW		INITIAL_JIFFIES

static u32 psn_at(u32 i)
{
	return (FIRST_PSN + i) & BTH_PSN_MASK;
}

static void purge(void *hold)
{
	rxe_hold_purge(hold);
}

static struct rxe_hold *new_hold(struct kunit *test)
{
	struct rxe_hold *hold = kunit_kzalloc(test, sizeof(*hold), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hold);
	rxe_hold_init(hold);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, purge, hold), 0);
	return hold;
}

static bool add(struct kunit *test, struct rxe_hold *hold, u32 i, u32 expected,
		unsigned long now)
{
	struct sk_buff *skb = alloc_skb(16, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	SKB_TO_PKT(skb)->psn = psn_at(i);
	if (rxe_hold_add(hold, skb, psn_at(expected), now))
		return true;

	kfree_skb(skb);
	return false;
}

static bool take(struct rxe_hold *hold, u32 i)
{
	struct sk_buff *skb = rxe_hold_take(hold, psn_at(i));
	bool right = skb && SKB_TO_PKT(skb)->psn == psn_at(i);

	kfree_skb(skb);
	return right;
}

/* In any order, with doubles, each leaves once and at its turn */
static void hold_sorts(struct kunit *test)
{
	struct rxe_hold *hold = new_hold(test);
	struct rnd_state rnd;
	bool there[RXE_HOLD_PSNS + 1] = { };
	u32 i, n;

	prandom_seed_state(&rnd, 3);
	for (n = 0; n < 300; n++) {
		i = 1 + prandom_u32_state(&rnd) % RXE_HOLD_PSNS;
		KUNIT_ASSERT_EQ(test, add(test, hold, i, 0, NOW), !there[i]);
		there[i] = true;
	}
	for (i = 1; !there[i]; i++)
		;
	KUNIT_EXPECT_EQ(test, rxe_hold_first(hold), psn_at(i));
	KUNIT_EXPECT_FALSE(test, take(hold, 0));
	for (i = 1; i <= RXE_HOLD_PSNS; i++)
		KUNIT_EXPECT_EQ_MSG(test, take(hold, i), there[i], "%u", i);
	KUNIT_EXPECT_TRUE(test, rxe_hold_empty(hold));
}

static void hold_refuses_what_is_far_ahead(struct kunit *test)
{
	struct rxe_hold *hold = new_hold(test);

	KUNIT_EXPECT_TRUE(test, add(test, hold, RXE_HOLD_PSNS, 0, NOW));
	KUNIT_EXPECT_FALSE(test, add(test, hold, RXE_HOLD_PSNS + 1, 0, NOW));
	KUNIT_EXPECT_TRUE(test, add(test, hold, RXE_HOLD_PSNS + 1, 1, NOW));
}

/* The peer has sent all again, and it was executed on its way */
static void hold_frees_what_has_passed(struct kunit *test)
{
	struct rxe_hold *hold = new_hold(test);

	add(test, hold, 1, 0, NOW);
	add(test, hold, 3, 0, NOW);
	add(test, hold, 9, 0, NOW);
	KUNIT_EXPECT_FALSE(test, take(hold, 5));
	KUNIT_EXPECT_EQ(test, skb_queue_len(&hold->skbs), 1);
	KUNIT_EXPECT_TRUE(test, take(hold, 9));
}

static void hold_misses_after_a_few(struct kunit *test)
{
	struct rxe_hold *hold = new_hold(test);

	add(test, hold, 1, 0, NOW);
	KUNIT_EXPECT_FALSE(test, rxe_hold_misses(hold, psn_at(0), NOW));
	add(test, hold, 2, 0, NOW);
	KUNIT_EXPECT_FALSE(test, rxe_hold_misses(hold, psn_at(0), NOW));
	add(test, hold, 3, 0, NOW);
	KUNIT_EXPECT_TRUE(test, rxe_hold_misses(hold, psn_at(0), NOW));
}

static void hold_counts_none_twice(struct kunit *test)
{
	struct rxe_hold *hold = new_hold(test);

	KUNIT_EXPECT_TRUE(test, add(test, hold, 1, 0, NOW));
	KUNIT_EXPECT_TRUE(test, add(test, hold, 2, 0, NOW));
	KUNIT_EXPECT_FALSE(test, add(test, hold, 2, 0, NOW));
	KUNIT_EXPECT_FALSE(test, rxe_hold_proven(hold));
	KUNIT_EXPECT_TRUE(test, add(test, hold, 3, 0, NOW));
	KUNIT_EXPECT_TRUE(test, rxe_hold_proven(hold));
}

static void hold_misses_after_a_while(struct kunit *test)
{
	struct rxe_hold *hold = new_hold(test);

	add(test, hold, 1, 0, NOW);
	KUNIT_EXPECT_FALSE(test, rxe_hold_misses(hold, psn_at(0), NOW));
	KUNIT_EXPECT_TRUE(test, rxe_hold_misses(hold, psn_at(0), NOW + 1));
}

/* What the expected one has overtaken, or what it came behind, proves nothing */
static void hold_begins_anew_when_one_comes(struct kunit *test)
{
	struct rxe_hold *hold = new_hold(test);

	add(test, hold, 4, 0, NOW);
	add(test, hold, 5, 0, NOW);
	add(test, hold, 6, 1, NOW + 1);
	KUNIT_EXPECT_FALSE(test, rxe_hold_misses(hold, psn_at(1), NOW + 1));
	KUNIT_EXPECT_FALSE(test, rxe_hold_misses(hold, psn_at(2), NOW + 2));
	KUNIT_EXPECT_TRUE(test, rxe_hold_misses(hold, psn_at(2), NOW + 3));
}

/* One loss of several: the next one is told at once */
static void hold_misses_the_next_one_too(struct kunit *test)
{
	struct rxe_hold *hold = new_hold(test);

	add(test, hold, 1, 0, NOW);
	add(test, hold, 2, 0, NOW);
	add(test, hold, 4, 0, NOW);
	KUNIT_EXPECT_TRUE(test, rxe_hold_misses(hold, psn_at(0), NOW));
	KUNIT_EXPECT_TRUE(test, take(hold, 1));
	KUNIT_EXPECT_TRUE(test, take(hold, 2));
	KUNIT_EXPECT_TRUE(test, rxe_hold_misses(hold, psn_at(3), NOW));
	KUNIT_EXPECT_TRUE(test, take(hold, 4));

	add(test, hold, 6, 5, NOW);
	KUNIT_EXPECT_FALSE(test, rxe_hold_misses(hold, psn_at(5), NOW));
}

/* How many have to be there until it is told that an earlier one is lost */
static u32 needed(struct kunit *test, struct rxe_hold *hold, u32 expected)
{
	u32 n = 0;

	do {
		n++;
		KUNIT_ASSERT_LE(test, n, RXE_HOLD_PSNS);
		add(test, hold, expected + n, expected, NOW);
	} while (!rxe_hold_misses(hold, psn_at(expected), NOW));
	rxe_hold_purge(hold);
	return n;
}

static void hold_learns_from_what_was_not_lost(struct kunit *test)
{
	struct rxe_hold *hold = new_hold(test);
	u32 i;

	KUNIT_EXPECT_EQ(test, needed(test, hold, 0), RXE_HOLD_PROOF);
	rxe_hold_twice(hold, psn_at(1));
	KUNIT_EXPECT_EQ(test, needed(test, hold, 10), RXE_HOLD_PROOF);
	rxe_hold_twice(hold, psn_at(10));
	rxe_hold_twice(hold, psn_at(10));
	KUNIT_EXPECT_EQ(test, needed(test, hold, 20), 4 * RXE_HOLD_PROOF);

	for (i = 0; i < RXE_HOLD_LOSSES; i++)
		needed(test, hold, 40 + 20 * i);
	KUNIT_EXPECT_EQ(test, needed(test, hold, 1000), RXE_HOLD_PROOF);
}

static void hold_is_patient_to_a_degree(struct kunit *test)
{
	struct rxe_hold *hold = new_hold(test);
	u32 i;

	for (i = 0; i < 10; i++) {
		add(test, hold, 2 * i + 1, 2 * i, NOW);
		KUNIT_EXPECT_TRUE(test, rxe_hold_misses(hold, psn_at(2 * i),
							NOW + 10));
		rxe_hold_twice(hold, psn_at(2 * i));
		rxe_hold_purge(hold);
	}
	add(test, hold, 101, 100, NOW);
	KUNIT_EXPECT_FALSE(test, rxe_hold_misses(hold, psn_at(100),
						 NOW + RXE_HOLD_PATIENCE));
	KUNIT_EXPECT_TRUE(test, rxe_hold_misses(hold, psn_at(100),
						NOW + RXE_HOLD_PATIENCE + 1));
}

static struct kunit_case rxe_hold_cases[] = {
	KUNIT_CASE(hold_sorts),
	KUNIT_CASE(hold_refuses_what_is_far_ahead),
	KUNIT_CASE(hold_frees_what_has_passed),
	KUNIT_CASE(hold_misses_after_a_few),
	KUNIT_CASE(hold_counts_none_twice),
	KUNIT_CASE(hold_misses_after_a_while),
	KUNIT_CASE(hold_begins_anew_when_one_comes),
	KUNIT_CASE(hold_misses_the_next_one_too),
	KUNIT_CASE(hold_learns_from_what_was_not_lost),
	KUNIT_CASE(hold_is_patient_to_a_degree),
	{}
};

static struct kunit_suite rxe_hold_suite = {
	.name = "rxe_hold",
	.test_cases = rxe_hold_cases,
};

kunit_test_suite(rxe_hold_suite);
