/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One round: up to "depth" messages of one size, posted by the client, and
 * every byte of every slot compared at both ends, payload and surroundings.
 *
 *	client				server
 *	fill slots			fill slots, post receives
 *	----------------- meet: ready -----------------
 *	post, take completions		take receive completions
 *	compare own slots
 *	----------------- meet: done ------------------
 *					compare own slots
 */
#ifndef CHECK_ROUND_H
#define CHECK_ROUND_H

#include "check_window.h"

/* The bits that PLAN_CORRUPT turns over. */
#define ROUND_SPOILT 4

struct round {
	uint64_t first;		/* number of the first message */
	uint32_t count;		/* messages, each in a slot of its own */
	uint32_t size;		/* bytes of each */
};

static char *round_slot(struct end *end, const struct round *round,
			uint32_t slot)
{
	return (char *)(uintptr_t)end_place(&end->plan, end->self.buf, slot,
					    round->size, round->first + slot);
}

/* Does this end hold the messages' bytes before the round? */
static bool round_is_source(const struct end *end)
{
	return end->client == (end->plan.op != OP_READ) &&
	       !(end->client && plan_shares_word(&end->plan));
}

static void round_fill(struct end *end, const struct round *round)
{
	uint32_t slot;

	memset(end->buf, PATTERN_GUARD,
	       end_stride(round->size) * round->count);
	if (plan_shares_word(&end->plan) && !end->client)
		pattern_fill(round_slot(end, round, 0), 8, end->plan.seed,
			     round->first);
	if (!round_is_source(end) || plan_shares_word(&end->plan))
		return;
	for (slot = 0; slot < round->count; slot++)
		pattern_fill(round_slot(end, round, slot), round->size,
			     end->plan.seed, round->first + slot);
	if (end->plan.flags & PLAN_CORRUPT)
		round_slot(end, round, round->count - 1)[round->size / 2] ^=
			ROUND_SPOILT;
}

/* Has the message come as the client sent it, up to a byte it spoilt? */
static bool round_arrived(struct end *end, const struct round *round,
			  uint32_t slot)
{
	const char *data = round_slot(end, round, slot);
	uint64_t msg = round->first + slot;
	size_t at = pattern_find(data, round->size, end->plan.seed, msg);
	uint64_t word = pattern_word(end->plan.seed, msg, at / 8);

	if (end->plan.flags & PLAN_CORRUPT && slot == round->count - 1 &&
	    at == round->size / 2)
		return (data[at] ^ ((char *)&word)[at % 8]) == ROUND_SPOILT;
	return at == round->size;
}

/* The word that the @index-th atomic of a round finds and what it leaves. */
static uint64_t round_atomic(const struct plan *plan,
			     const struct round *round, uint32_t index,
			     struct work *work)
{
	uint64_t word = pattern_word(plan->seed, round->first, 0);
	uint64_t found = word;
	uint32_t i;

	for (i = 0; i <= index; i++) {
		uint64_t random = pattern_word(plan->seed, round->first + i,
					       2);

		found = word;
		/* Every third compare is with another word and must fail. */
		work->operand = plan->op == OP_FETCH_ADD ? random :
				i % 3 == 2 ? ~word : word;
		work->swap = random;
		if (plan->op == OP_FETCH_ADD)
			word += random;
		else if (work->operand == word)
			word = random;
	}
	work->data = word;
	return found;
}

static void round_expect(const char *slot_data, uint32_t size, uint64_t seed,
			 uint64_t msg)
{
	size_t at = pattern_find(slot_data, size, seed, msg);
	uint64_t word = pattern_word(seed, msg, at / 8);

	if (at == size)
		return;
	fail("message %llu: byte %zu of %u is 0x%02x, expected 0x%02x",
	     (unsigned long long)msg, at, size, (uint8_t)slot_data[at],
	     ((uint8_t *)&word)[at % 8]);
}

static void round_expect_word(const char *slot_data, uint64_t want,
			      uint64_t msg)
{
	uint64_t word;

	memcpy(&word, slot_data, sizeof(word));
	if (word != want)
		fail("message %llu: word 0x%llx, expected 0x%llx",
		     (unsigned long long)msg, (unsigned long long)word,
		     (unsigned long long)want);
}

/* No byte outside a message may have changed. */
static void round_check_guards(struct end *end, const struct round *round,
			       uint32_t slot, uint32_t size)
{
	char *data = round_slot(end, round, slot);
	char *start = end->buf + slot * end_stride(round->size);
	char *stop = start + end_stride(round->size);
	char *head = data;
	size_t at;

	if (end->plan.type == IBV_QPT_UD && !end->client)
		head -= END_GRH;
	at = pattern_find_guard(start, head - start);
	if (at < (size_t)(head - start))
		fail("message %llu: byte %zu before it was overwritten",
		     (unsigned long long)round->first + slot,
		     (size_t)(data - start) - at);
	at = pattern_find_guard(data + size, stop - data - size);
	if (at < (size_t)(stop - data - size))
		fail("message %llu: byte %zu after it was overwritten",
		     (unsigned long long)round->first + slot, at);
}

/*
 * Over IPv4 the last 20 of the 40 bytes before a datagram are its IP header,
 * whose checksum tells a consumer so (ibv_init_ah_from_wc(3)).
 */
static void round_check_grh(struct end *end, const struct round *round,
			    uint32_t slot)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *ip = (uint8_t *)round_slot(end, round, slot) - 20;
	uint32_t sum = 0;
	int at;

	if (memcmp(end->peer.gid, mapped, sizeof(mapped)))
		return;
	for (at = 0; at < 20; at += 2)
		sum += ip[at] << 8 | ip[at + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	if (ip[0] != 0x45 || sum != 0xffff)
		fail("message %llu: its IPv4 header is wrong: first byte 0x%x, sum 0x%x",
		     (unsigned long long)round->first + slot, ip[0], sum);
}

static void round_check_atomic(struct end *end, const struct round *round,
			       uint32_t slot)
{
	struct work work = { 0 };
	uint64_t found;

	if (end->client) {
		found = round_atomic(&end->plan, round, slot, &work);
		round_expect_word(round_slot(end, round, slot), found,
				  round->first + slot);
	} else if (!slot) {
		round_atomic(&end->plan, round, round->count - 1, &work);
		round_expect_word(round_slot(end, round, 0), work.data,
				  round->first + round->count - 1);
	}
}

/* Compare every byte that this end's slots hold after the round. */
static void round_check(struct end *end, const struct round *round)
{
	const struct plan *plan = &end->plan;
	bool shared = plan_shares_word(plan);
	uint32_t slot;

	for (slot = 0; slot < round->count; slot++) {
		bool holds = !shared || end->client || !slot;

		if (shared)
			round_check_atomic(end, round, slot);
		else if (!(plan->flags & PLAN_CORRUPT && round_is_source(end)))
			round_expect(round_slot(end, round, slot),
				     round->size, plan->seed,
				     round->first + slot);
		round_check_guards(end, round, slot,
				   holds ? round->size : 0);
		if (plan->type == IBV_QPT_UD && !end->client)
			round_check_grh(end, round, slot);
	}
}

#endif
