// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The index arithmetic of the rings shared with the client: one slot always
 * stays free, indices wrap, and an index that the client made up never
 * leads out of the ring.
 *
 * Context: pure; no device, no network.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../rxe.h"
#include "../rxe_queue.h"

#define SLOTS		16
#define LOG2_ELEM	6
#define STEPS		10000

static struct rxe_queue *new_queue(struct kunit *test)
{
	struct rxe_queue *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, q);
	q->log2_elem_size = LOG2_ELEM;
	q->elem_size = BIT(LOG2_ELEM);
	q->index_mask = SLOTS - 1;
	q->buf_size = sizeof(*q->buf) + (SLOTS << LOG2_ELEM);
	q->buf = kunit_kzalloc(test, q->buf_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, q->buf);

	return q;
}

static void queue_holds_all_slots_but_one(struct kunit *test)
{
	struct rxe_queue *q = new_queue(test);
	int i;

	KUNIT_EXPECT_TRUE(test, queue_empty(q, QUEUE_TYPE_FROM_ULP));
	for (i = 0; i < SLOTS - 1; i++) {
		KUNIT_EXPECT_FALSE(test, queue_full(q, QUEUE_TYPE_FROM_ULP));
		queue_advance_producer(q, QUEUE_TYPE_FROM_ULP);
		KUNIT_EXPECT_EQ(test, queue_count(q, QUEUE_TYPE_FROM_ULP),
				i + 1);
	}
	KUNIT_EXPECT_TRUE(test, queue_full(q, QUEUE_TYPE_FROM_ULP));
	KUNIT_EXPECT_FALSE(test, queue_empty(q, QUEUE_TYPE_FROM_CLIENT));
}

/* One side of a ring in one direction: who writes, who reads */
struct direction {
	const char *name;
	enum queue_type producer;
	enum queue_type consumer;
};

static const struct direction directions[] = {
	{ "client to driver", QUEUE_TYPE_FROM_ULP, QUEUE_TYPE_FROM_CLIENT },
	{ "driver to client", QUEUE_TYPE_TO_CLIENT, QUEUE_TYPE_TO_ULP },
};

KUNIT_ARRAY_PARAM_DESC(direction, directions, name);

/* Random puts and gets against two plain counters */
static void queue_keeps_order_across_wraps(struct kunit *test)
{
	const struct direction *dir = test->param_value;
	struct rxe_queue *q = new_queue(test);
	struct rnd_state rnd;
	u32 put = 0;
	u32 got = 0;
	u32 *elem;
	int i;

	prandom_seed_state(&rnd, 20);
	for (i = 0; i < STEPS; i++) {
		if (prandom_u32_state(&rnd) & 1) {
			KUNIT_ASSERT_EQ(test, queue_full(q, dir->producer),
					put - got == SLOTS - 1);
			if (put - got == SLOTS - 1)
				continue;
			elem = queue_producer_addr(q, dir->producer);
			*elem = put++;
			queue_advance_producer(q, dir->producer);
		} else {
			elem = queue_head(q, dir->consumer);
			KUNIT_ASSERT_EQ(test, !elem, put == got);
			if (!elem)
				continue;
			KUNIT_ASSERT_EQ(test, *elem, got++);
			queue_advance_consumer(q, dir->consumer);
		}
		KUNIT_ASSERT_EQ(test, queue_count(q, dir->consumer), put - got);
	}
	KUNIT_EXPECT_GT(test, got, 4 * SLOTS);
}

static void queue_index_and_address_agree(struct kunit *test)
{
	struct rxe_queue *q = new_queue(test);
	u32 i;

	for (i = 0; i < 3 * SLOTS; i++) {
		void *addr = queue_addr_from_index(q, i);

		KUNIT_EXPECT_EQ(test, queue_index_from_addr(q, addr),
				i % SLOTS);
	}
	KUNIT_EXPECT_EQ(test, queue_next_index(q, SLOTS - 1), 0);
}

/* The driver reads the client's index; the client may write anything there */
static void queue_bounds_a_made_up_index(struct kunit *test)
{
	static const u32 made_up[] = {
		SLOTS, SLOTS + 1, 0x7fffffff, 0x80000000, 0xffffffff,
	};
	struct rxe_queue *q = new_queue(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(made_up); i++) {
		void *end = q->buf->data + (SLOTS << LOG2_ELEM);
		void *addr;

		q->buf->producer_index = made_up[i];
		KUNIT_EXPECT_LT(test, queue_count(q, QUEUE_TYPE_FROM_CLIENT),
				SLOTS);
		addr = queue_addr_from_index(q, made_up[i]);
		KUNIT_EXPECT_TRUE(test, addr >= (void *)q->buf->data &&
				  addr < end);
	}
}

static struct kunit_case rxe_queue_cases[] = {
	KUNIT_CASE(queue_holds_all_slots_but_one),
	KUNIT_CASE_PARAM(queue_keeps_order_across_wraps, direction_gen_params),
	KUNIT_CASE(queue_index_and_address_agree),
	KUNIT_CASE(queue_bounds_a_made_up_index),
	{}
};

static struct kunit_suite rxe_queue_suite = {
	.name = "rxe_queue",
	.test_cases = rxe_queue_cases,
};

kunit_test_suite(rxe_queue_suite);
