// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packet sequence numbers are 24 bits wide and compared in a circle
 * (IBTA volume 1, section 9.7.2).
 *
 * Context: pure; no device, no network.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../rxe.h"

#define PSN_HALF	BIT(23)
#define PAIRS		10000

struct psn_case {
	const char *name;
	u32 a;
	u32 b;
	int sign;
};

static const struct psn_case psn_cases[] = {
	{ "equal", 5, 5, 0 },
	{ "after", 6, 5, 1 },
	{ "before", 5, 6, -1 },
	{ "equal at the top", 0xffffff, 0xffffff, 0 },
	{ "after the wrap", 0, 0xffffff, 1 },
	{ "before the wrap", 0xffffff, 0, -1 },
	{ "just under half a circle ahead", PSN_HALF - 1, 0, 1 },
	{ "just over half a circle ahead", PSN_HALF + 1, 0, -1 },
	{ "bits above the PSN do not count", 0xab000005, 0x12000005, 0 },
};

KUNIT_ARRAY_PARAM_DESC(psn, psn_cases, name);

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static void psn_compares_in_a_circle(struct kunit *test)
{
	const struct psn_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, sign(psn_compare(c->a, c->b)), c->sign);
}

/* The reference walks the circle by plain, unmasked subtraction */
static int reference(u32 a, u32 b)
{
	s64 ahead = ((s64)a - b + 2 * (s64)PSN_HALF) % (2 * (s64)PSN_HALF);

	if (!ahead)
		return 0;

	return ahead < PSN_HALF ? 1 : -1;
}

static void psn_agrees_with_the_reference(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 24);
	for (i = 0; i < PAIRS; i++) {
		u32 a = prandom_u32_state(&rnd) & BTH_PSN_MASK;
		u32 b = (a + prandom_u32_state(&rnd) % 512 - 256) &
			BTH_PSN_MASK;

		if (i & 1)
			b = prandom_u32_state(&rnd) & BTH_PSN_MASK;
		KUNIT_ASSERT_EQ_MSG(test, sign(psn_compare(a, b)),
				    reference(a, b), "a=%u b=%u", a, b);
	}
}

static struct kunit_case rxe_psn_cases[] = {
	KUNIT_CASE_PARAM(psn_compares_in_a_circle, psn_gen_params),
	KUNIT_CASE(psn_agrees_with_the_reference),
	{}
};

static struct kunit_suite rxe_psn_suite = {
	.name = "rxe_psn",
	.test_cases = rxe_psn_cases,
};

kunit_test_suite(rxe_psn_suite);
