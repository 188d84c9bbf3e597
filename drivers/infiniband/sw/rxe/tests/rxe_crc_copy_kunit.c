// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A copy and its CRC in one pass (rxe_crc_copy.c) against memcpy() and
 * crc32_le(), whatever the length and the alignment.
 *
 * Context: process; memory only. On a CPU with the instructions for it the loop
 * with the vector registers is what is tested, else the two passes.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/crc32.h>
#include <linux/kthread.h>
#include <linux/prandom.h>

#include "../rxe.h"
#include "../rxe_crc_copy.h"

#define BYTES	8192
#define AROUND	32	/* must stay as they are */

struct bench {
	u8 from[BYTES + AROUND];
	u8 to[BYTES + 2 * AROUND];
	u8 was[BYTES + 2 * AROUND];
};

static struct bench *new_bench(struct kunit *test, struct rnd_state *rnd)
{
	struct bench *b = kunit_kmalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	prandom_bytes_state(rnd, b, sizeof(*b));
	memcpy(b->was, b->to, sizeof(b->to));
	return b;
}

static void copy_once(struct kunit *test, struct bench *b, u32 len,
		      u32 from_off, u32 to_off, u32 seed)
{
	const u8 *from = b->from + from_off;
	u8 *to = b->to + to_off;
	u32 crc = rxe_crc_copy(seed, to, from, len);

	KUNIT_ASSERT_EQ_MSG(test, crc, crc32_le(seed, from, len),
			    "%u bytes, offsets %u and %u", len, from_off,
			    to_off);
	KUNIT_ASSERT_MEMEQ(test, to, from, len);
	KUNIT_ASSERT_MEMEQ(test, b->to, b->was, to_off);
	KUNIT_ASSERT_MEMEQ(test, to + len, b->was + to_off + len,
			   sizeof(b->to) - to_off - len);
	memcpy(b->to, b->was, sizeof(b->to));
}

static void crc_copy_of_every_short_length(struct kunit *test)
{
	struct rnd_state rnd;
	struct bench *b;
	u32 len;

	prandom_seed_state(&rnd, 31);
	b = new_bench(test, &rnd);
	for (len = 0; len <= 640; len++)
		copy_once(test, b, len, 0, AROUND, prandom_u32_state(&rnd));
}

static void crc_copy_at_every_alignment(struct kunit *test)
{
	static const u32 lengths[] = { 64, 1024, 2050, 4096, BYTES };
	struct rnd_state rnd;
	struct bench *b;
	int i, off;

	prandom_seed_state(&rnd, 32);
	b = new_bench(test, &rnd);
	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		for (off = 0; off < AROUND; off++)
			copy_once(test, b, lengths[i], off, AROUND - off,
				  prandom_u32_state(&rnd));
}

static void crc_copy_goes_on(struct kunit *test)
{
	struct rnd_state rnd;
	struct bench *b;
	u32 at = 0;
	u32 crc = 0x12345678;

	prandom_seed_state(&rnd, 33);
	b = new_bench(test, &rnd);
	while (at < BYTES) {
		u32 len = min_t(u32, 1 + prandom_u32_state(&rnd) % 1000,
				BYTES - at);

		crc = rxe_crc_copy(crc, b->to + at, b->from + at, len);
		at += len;
	}
	KUNIT_EXPECT_EQ(test, crc, crc32_le(0x12345678, b->from, BYTES));
	KUNIT_EXPECT_MEMEQ(test, b->to, b->from, BYTES);
}

struct changer {
	u8 *bytes;
	struct completion has_begun;
};

static int change_bytes(void *arg)
{
	struct changer *c = arg;
	u8 n = 0;

	while (!kthread_should_stop()) {
		int i;

		for (i = 0; i < BYTES; i += 16)
			WRITE_ONCE(c->bytes[i], n);
		n++;
		complete(&c->has_begun);
		cond_resched();
	}
	return 0;
}

/* A consumer may write to what is being sent; then either is sent, and right */
static void crc_copy_reads_once(struct kunit *test)
{
	struct rnd_state rnd;
	struct changer c;
	struct task_struct *task;
	struct bench *b;
	int i;

	prandom_seed_state(&rnd, 34);
	b = new_bench(test, &rnd);
	c.bytes = b->from;
	init_completion(&c.has_begun);
	task = kthread_run(change_bytes, &c, "rxe_kunit_change");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&c.has_begun);

	for (i = 0; i < 2000; i++) {
		u32 crc = rxe_crc_copy(~0u, b->to, b->from, BYTES);

		KUNIT_EXPECT_EQ(test, crc, crc32_le(~0u, b->to, BYTES));
		cond_resched();
	}
	kthread_stop(task);
}

static struct kunit_case rxe_crc_copy_cases[] = {
	KUNIT_CASE(crc_copy_of_every_short_length),
	KUNIT_CASE(crc_copy_at_every_alignment),
	KUNIT_CASE(crc_copy_goes_on),
	KUNIT_CASE(crc_copy_reads_once),
	{}
};

static struct kunit_suite rxe_crc_copy_suite = {
	.name = "rxe_crc_copy",
	.test_cases = rxe_crc_copy_cases,
};

kunit_test_suite(rxe_crc_copy_suite);
