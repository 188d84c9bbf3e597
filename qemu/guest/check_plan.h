/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a client asks its server to check with it: one operation on one kind
 * of queue pair, in which sizes, how often and in what manner. The client
 * alone has options; the server gets the plan over the side channel.
 */
#ifndef CHECK_PLAN_H
#define CHECK_PLAN_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "check_report.h"

#define PLAN_MAGIC 0x72786502u
#define PLAN_MAX_SIZES 32
#define PLAN_MAX_SGES 8

enum plan_op {
	OP_SEND,
	OP_SEND_IMM,
	OP_SEND_INV,
	OP_WRITE,
	OP_WRITE_IMM,
	OP_READ,
	OP_CMP_SWAP,
	OP_FETCH_ADD,
	OP_ATOMIC_WRITE,
	OP_FLUSH,
	OP_COUNT,
	OP_END = OP_COUNT,	/* no further plan: the session is over */
};

enum plan_flag {
	PLAN_EVENTS = 1 << 0,	/* sleep on the completion channel */
	PLAN_INLINE = 1 << 1,	/* payload inside the work request */
	PLAN_SRQ = 1 << 2,	/* receives from a shared receive queue */
	PLAN_WINDOW = 1 << 3,	/* remote access through a type 2 window */
	PLAN_CLASSIC = 1 << 4,	/* ibv_post_send(), not ibv_wr_*() */
	PLAN_CORRUPT = 1 << 5,	/* damage one byte: the check must see it */
	PLAN_STRICT = 1 << 6,	/* completion flags as verbs.h has them */
	PLAN_REWRITE = 1 << 7,	/* first once with changing data */
};

struct plan {
	uint32_t magic;
	uint32_t op;		/* enum plan_op */
	uint32_t type;		/* enum ibv_qp_type */
	uint32_t flags;		/* enum plan_flag */
	uint32_t mtu;		/* path MTU in bytes, 0: the port's */
	uint32_t depth;		/* messages in flight, and slots */
	uint32_t list;		/* work requests per post */
	uint32_t sges;		/* scatter-gather elements per message */
	uint32_t messages;	/* per size */
	uint32_t ack_timeout;	/* the QP's, 4.096 us << ack_timeout */
	uint32_t wait_ms;	/* limit for one completion */
	uint32_t size_count;
	uint64_t budget;	/* bytes per size after which one stops */
	uint64_t seed;
	uint8_t group[16];	/* multicast group to send to, 0: none */
	uint32_t sizes[PLAN_MAX_SIZES];
};

#define ON(type) (1u << (type))
#define ON_RC ON(IBV_QPT_RC)
#define ON_RC_UC (ON_RC | ON(IBV_QPT_UC))
#define ON_ANY (ON_RC_UC | ON(IBV_QPT_UD))

struct op_kind {
	const char *name;
	uint32_t types;		/* ON() of the QP types that have it */
	uint64_t send_flag;	/* of ibv_qp_init_attr_ex.send_ops_flags */
	enum ibv_wr_opcode opcode;
	enum ibv_wc_opcode wc;
	bool receives;		/* consumes a receive at the server */
	bool imm;		/* carries immediate data */
	bool remote;		/* names memory of the server */
	bool atomic;		/* one 8-byte word, aligned */
};

static const struct op_kind op_kinds[OP_COUNT] = {
	[OP_SEND] = { "send", ON_ANY, IBV_QP_EX_WITH_SEND,
		      IBV_WR_SEND, IBV_WC_SEND, .receives = true },
	[OP_SEND_IMM] = { "send_imm", ON_ANY, IBV_QP_EX_WITH_SEND_WITH_IMM,
			  IBV_WR_SEND_WITH_IMM, IBV_WC_SEND,
			  .receives = true, .imm = true },
	[OP_SEND_INV] = { "send_inv", ON_RC, IBV_QP_EX_WITH_SEND_WITH_INV,
			  IBV_WR_SEND_WITH_INV, IBV_WC_SEND,
			  .receives = true },
	[OP_WRITE] = { "write", ON_RC_UC, IBV_QP_EX_WITH_RDMA_WRITE,
		       IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, .remote = true },
	[OP_WRITE_IMM] = { "write_imm", ON_RC_UC,
			   IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
			   IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
			   .receives = true, .imm = true, .remote = true },
	[OP_READ] = { "read", ON_RC, IBV_QP_EX_WITH_RDMA_READ,
		      IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, .remote = true },
	[OP_CMP_SWAP] = { "cmp_swap", ON_RC,
			  IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
			  IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP,
			  .remote = true, .atomic = true },
	[OP_FETCH_ADD] = { "fetch_add", ON_RC,
			   IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
			   IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD,
			   .remote = true, .atomic = true },
	[OP_ATOMIC_WRITE] = { "atomic_write", ON_RC,
			      IBV_QP_EX_WITH_ATOMIC_WRITE,
			      IBV_WR_ATOMIC_WRITE, IBV_WC_ATOMIC_WRITE,
			      .remote = true, .atomic = true },
#ifdef HAVE_IBV_WR_FLUSH
	[OP_FLUSH] = { "flush", ON_RC,
		       IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_RDMA_WRITE,
		       IBV_WR_FLUSH, IBV_WC_FLUSH, .remote = true },
#else
	[OP_FLUSH] = { "flush", ON_RC, .remote = true },
#endif
};

static const struct op_kind *plan_op(const struct plan *plan)
{
	return &op_kinds[plan->op];
}

static bool plan_has_group(const struct plan *plan)
{
	static const uint8_t none[16];

	return memcmp(plan->group, none, sizeof(none));
}

/* The word that both atomics of one round work on lies in one slot. */
static bool plan_shares_word(const struct plan *plan)
{
	return plan->op == OP_CMP_SWAP || plan->op == OP_FETCH_ADD;
}

static const char *plan_type_name(const struct plan *plan)
{
	switch (plan->type) {
	case IBV_QPT_RC:
		return "rc";
	case IBV_QPT_UC:
		return "uc";
	default:
		return "ud";
	}
}

static uint32_t plan_parse_type(const char *text)
{
	if (!strcmp(text, "rc"))
		return IBV_QPT_RC;
	if (!strcmp(text, "uc"))
		return IBV_QPT_UC;
	if (!strcmp(text, "ud"))
		return IBV_QPT_UD;
	fail("-t %s: expected rc, uc or ud", text);
}

/* A comma-separated list of operations into @ops; returns how many. */
static unsigned int plan_parse_ops(char *text, uint32_t *ops)
{
	unsigned int count = 0;
	char *word;

	while ((word = strsep(&text, ","))) {
		uint32_t op = 0;

		while (op < OP_COUNT && strcmp(word, op_kinds[op].name))
			op++;
		if (op == OP_COUNT)
			fail("-o %s: no such operation", word);
		if (count == OP_COUNT)
			fail("-o: more than %d operations", OP_COUNT);
		ops[count++] = op;
	}
	return count;
}

static uint64_t plan_number(const char *option, const char *text,
			    uint64_t low, uint64_t high)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (!*text || *end || value < low || value > high)
		fail("%s %s: expected a number from %llu to %llu", option,
		     text, (unsigned long long)low, (unsigned long long)high);
	return value;
}

static void plan_parse_sizes(struct plan *plan, char *text)
{
	char *word;

	plan->size_count = 0;
	while ((word = strsep(&text, ","))) {
		if (plan->size_count == PLAN_MAX_SIZES)
			fail("-s: more than %d sizes", PLAN_MAX_SIZES);
		plan->sizes[plan->size_count++] =
			plan_number("-s", word, 0, 1u << 30);
	}
}

/* Refuse at the client what cannot be meant; the server trusts the plan. */
static void plan_check(struct plan *plan)
{
	const struct op_kind *kind = plan_op(plan);

	if (!(kind->types & ON(plan->type)))
		fail("-o %s: not an operation of %s queue pairs", kind->name,
		     plan_type_name(plan));
	if (plan->flags & PLAN_WINDOW && !kind->remote)
		fail("-w: %s names no remote memory", kind->name);
	if (plan->sges > 1 && !(plan->flags & PLAN_CLASSIC))
		fail("-g: needs -c, rdma-core 44 miscounts ibv_wr_set_sge_list");
	if (plan->flags & PLAN_CLASSIC &&
	    (plan->op == OP_ATOMIC_WRITE || plan->op == OP_FLUSH))
		fail("-c: ibv_post_send has no %s", kind->name);
	if (plan->flags & PLAN_INLINE && (plan->sges > 1 || kind->atomic ||
					  plan->op == OP_READ))
		fail("-i: nothing of %s travels inline", kind->name);
	if (plan->flags & PLAN_REWRITE && plan->op != OP_WRITE)
		fail("-z: a %s cannot be repeated", kind->name);
	if (plan_has_group(plan) && plan->type != IBV_QPT_UD)
		fail("-M: only ud queue pairs send to a group");
	if (plan->list > plan->depth)
		fail("-l %u: longer than the depth %u", plan->list,
		     plan->depth);
	if (kind->atomic) {
		plan->size_count = 1;
		plan->sizes[0] = sizeof(uint64_t);
	}
}

/* Messages of this size: all, or as many as the budget allows, at least 2. */
static uint32_t plan_messages(const struct plan *plan, uint32_t size)
{
	uint64_t fit = plan->budget / (size ? size : 1);

	if (fit < 2)
		fit = 2;
	return fit < plan->messages ? fit : plan->messages;
}

static uint32_t plan_max_size(const struct plan *plan)
{
	uint32_t max = 0, i;

	for (i = 0; i < plan->size_count; i++)
		if (plan->sizes[i] > max)
			max = plan->sizes[i];
	return max;
}

#endif
