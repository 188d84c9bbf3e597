/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A queue pair that is connected to itself, and what it works with. */
#ifndef RULE_PAIR_H
#define RULE_PAIR_H

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>

#define PAIR_BYTES	(1 << 20)	/* each of what is sent and received */
#define PAIR_WAIT_MS	10000

struct pair {
	struct ibv_context *context;
	int gid_index;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;	/* or NULL: the queue pair has a queue of its own */
	struct ibv_qp *qp;
	struct ibv_qp *peer;	/* what it is connected to: itself, usually */
	struct ibv_mr *mr;
	uint8_t *out;
	uint8_t *in;
};

/* What a case needs of its queue pair */
struct pair_limits {
	int send_wr;
	int recv_wr;
	int send_cqe;
	int recv_cqe;
	int srq_wr;	/* 0: no shared receive queue */
};

#define PAIR_ROOMY	{ .send_wr = 1024, .recv_wr = 8, .send_cqe = 256, \
			  .recv_cqe = 256 }

static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "verbs_rules: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static struct ibv_context *pair_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (int i = 0; list && list[i] && !context; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	if (!context)
		fail("cannot open device %s", name);
	ibv_free_device_list(list);
	return context;
}

static void *pair_check(void *made, const char *what)
{
	if (!made)
		fail("%s: %s", what, strerror(errno));
	return made;
}

static void pair_modify(struct pair *pair, struct ibv_qp_attr *attr, int mask)
{
	int error = ibv_modify_qp(pair->qp, attr, mask | IBV_QP_STATE);

	if (error)
		fail("ibv_modify_qp to state %d: %s", attr->qp_state,
		     strerror(error));
}

static void pair_to_init(struct pair *pair)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	pair_modify(pair, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				 IBV_QP_ACCESS_FLAGS);
}

static void pair_to_rtr(struct pair *pair)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = pair->peer->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .sgid_index = pair->gid_index, .hop_limit = 64 },
		},
	};

	if (ibv_query_gid(pair->context, 1, pair->gid_index,
			  &attr.ah_attr.grh.dgid))
		fail("no GID %d", pair->gid_index);
	pair_modify(pair, &attr, IBV_QP_AV | IBV_QP_PATH_MTU |
				 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				 IBV_QP_MAX_DEST_RD_ATOMIC |
				 IBV_QP_MIN_RNR_TIMER);
}

static void pair_to_rts(struct pair *pair)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	pair_modify(pair, &attr, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				 IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				 IBV_QP_MAX_QP_RD_ATOMIC);
}

static void pair_up(struct pair *pair)
{
	pair_to_init(pair);
	pair_to_rtr(pair);
	pair_to_rts(pair);
}

static void pair_to_reset(struct pair *pair)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	pair_modify(pair, &attr, 0);
}

static void pair_to_error(struct pair *pair)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	pair_modify(pair, &attr, 0);
}

static struct ibv_srq *pair_make_srq(struct pair *pair, int wr)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = wr, .max_sge = 1 },
	};

	return pair_check(ibv_create_srq(pair->pd, &init), "ibv_create_srq");
}

static void pair_make(struct pair *pair, const char *device, int gid_index,
		      const struct pair_limits *limits)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = limits->send_wr,
			.max_recv_wr = limits->recv_wr,
			.max_send_sge = 2,
			.max_recv_sge = 1,
			.max_inline_data = 64,
		},
	};

	pair->context = pair_open(device);
	pair->gid_index = gid_index;
	pair->pd = pair_check(ibv_alloc_pd(pair->context), "ibv_alloc_pd");
	pair->channel = pair_check(ibv_create_comp_channel(pair->context),
				   "ibv_create_comp_channel");
	pair->send_cq = pair_check(ibv_create_cq(pair->context,
						 limits->send_cqe, NULL,
						 pair->channel, 0),
				   "ibv_create_cq");
	pair->recv_cq = pair_check(ibv_create_cq(pair->context,
						 limits->recv_cqe, NULL,
						 pair->channel, 0),
				   "ibv_create_cq");
	init.send_cq = pair->send_cq;
	init.recv_cq = pair->recv_cq;
	if (limits->srq_wr)
		pair->srq = pair_make_srq(pair, limits->srq_wr);
	init.srq = pair->srq;
	pair->qp = pair_check(ibv_create_qp(pair->pd, &init), "ibv_create_qp");

	pair->out = pair_check(calloc(2, PAIR_BYTES), "calloc");
	pair->in = pair->out + PAIR_BYTES;
	pair->mr = pair_check(ibv_reg_mr(pair->pd, pair->out, 2 * PAIR_BYTES,
					 IBV_ACCESS_LOCAL_WRITE |
					 IBV_ACCESS_REMOTE_READ |
					 IBV_ACCESS_REMOTE_WRITE |
					 IBV_ACCESS_REMOTE_ATOMIC),
			      "ibv_reg_mr");
	pair->peer = pair->qp;
	pair_up(pair);
}

static void pair_post_recv(struct pair *pair, uint64_t wr_id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)pair->in,
		.length = PAIR_BYTES,
		.lkey = pair->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge,
				  .num_sge = 1 };
	struct ibv_recv_wr *bad;
	int error = pair->srq ? ibv_post_srq_recv(pair->srq, &wr, &bad) :
				ibv_post_recv(pair->qp, &wr, &bad);

	if (error)
		fail("posting a receive: %s", strerror(error));
}

static void pair_post_list(struct pair *pair, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;
	int error = ibv_post_send(pair->qp, list, &bad);

	if (error)
		fail("ibv_post_send: %s", strerror(error));
}

/* The first bytes of pair->out, to pair->in if it is a WRITE */
static void pair_post_op(struct pair *pair, enum ibv_wr_opcode opcode,
			 uint64_t wr_id, uint32_t bytes, unsigned int flags)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)pair->out,
		.length = bytes,
		.lkey = pair->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = flags,
		.wr.rdma.remote_addr = (uintptr_t)pair->in,
		.wr.rdma.rkey = pair->mr->rkey,
	};

	pair_post_list(pair, &wr);
}

static void pair_post(struct pair *pair, uint64_t wr_id, uint32_t bytes,
		      unsigned int flags)
{
	pair_post_op(pair, IBV_WR_RDMA_WRITE, wr_id, bytes, flags);
}

static void pair_post_write(struct pair *pair, uint64_t wr_id, uint32_t bytes)
{
	pair_post(pair, wr_id, bytes, IBV_SEND_SIGNALED);
}

static int64_t pair_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

/* Wait for one completion; its order and status are the caller's concern */
static struct ibv_wc pair_wait(struct ibv_cq *cq, const char *what)
{
	int64_t end = pair_now_ms() + PAIR_WAIT_MS;
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, &wc);
		if (n < 0)
			fail("ibv_poll_cq failed");
	} while (!n && pair_now_ms() < end);
	if (!n)
		fail("%s: no completion within %d ms", what, PAIR_WAIT_MS);
	return wc;
}

static void pair_expect(struct ibv_cq *cq, uint64_t wr_id,
			enum ibv_wc_status status, const char *what)
{
	struct ibv_wc wc = pair_wait(cq, what);

	if (wc.wr_id != wr_id || wc.status != status)
		fail("%s: expected WR %llu with status %s, got WR %llu with %s",
		     what, (unsigned long long)wr_id,
		     ibv_wc_status_str(status), (unsigned long long)wc.wr_id,
		     ibv_wc_status_str(wc.status));
}

static enum ibv_qp_state pair_state(struct pair *pair)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(pair->qp, &attr, IBV_QP_STATE, &init))
		fail("ibv_query_qp failed");
	return attr.qp_state;
}

static void pair_expect_error_state(struct pair *pair)
{
	int64_t end = pair_now_ms() + PAIR_WAIT_MS;

	while (pair_state(pair) != IBV_QPS_ERR)
		if (pair_now_ms() > end)
			fail("the queue pair is not in the error state");
}

/* Whether a file descriptor becomes readable */
static int pair_readable(int fd, int ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, ms) == 1;
}

#endif /* RULE_PAIR_H */
