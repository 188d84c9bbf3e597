/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bring the two queue pairs of a check from RESET to RTS. */
#ifndef CHECK_CONNECT_H
#define CHECK_CONNECT_H

#include "check_end.h"

static enum ibv_mtu connect_mtu(uint32_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && 128u << mtu < bytes)
		mtu++;
	if (128u << mtu != bytes)
		fail("-m %u: no path MTU", bytes);
	return mtu;
}

static void connect_modify(struct end *end, struct ibv_qp_attr *attr,
			   int mask)
{
	int error = ibv_modify_qp(end->qp, attr, mask | IBV_QP_STATE);

	if (error)
		fail("ibv_modify_qp to state %d: %s", attr->qp_state,
		     strerror(error));
}

static void connect_init(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = END_QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	if (end->plan.type == IBV_QPT_RC)
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ |
					IBV_ACCESS_REMOTE_ATOMIC;
#ifdef HAVE_IBV_WR_FLUSH
	if (end->plan.op == OP_FLUSH)
		attr.qp_access_flags |= IBV_ACCESS_FLUSH_GLOBAL;
#endif
	connect_modify(end, &attr, mask | (end->plan.type == IBV_QPT_UD ?
					   IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

static uint8_t connect_rd_atomic(const struct end *end)
{
	int max = end->attr.orig_attr.max_qp_rd_atom;

	return max < 16 ? max : 16;
}

static void connect_rtr(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = connect_mtu(end->plan.mtu),
		.dest_qp_num = end->peer.qpn,
		.rq_psn = end->peer.psn,
		.max_dest_rd_atomic = connect_rd_atomic(end),
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .sgid_index = end->gid_index,
				      .hop_limit = 64 } },
	};
	int mask = 0;

	memcpy(attr.ah_attr.grh.dgid.raw, end->peer.gid, 16);
	if (end->plan.type != IBV_QPT_UD)
		mask = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		       IBV_QP_RQ_PSN;
	if (end->plan.type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	connect_modify(end, &attr, mask);
	if (end->plan.type != IBV_QPT_UD)
		return;
	if (plan_has_group(&end->plan))
		memcpy(attr.ah_attr.grh.dgid.raw, end->plan.group, 16);
	end->ah = ibv_create_ah(end->pd, &attr.ah_attr);
	if (!end->ah)
		fail("ibv_create_ah: %s", strerror(errno));
}

static void connect_rts(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = end->self.psn,
		.timeout = end->plan.ack_timeout,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = connect_rd_atomic(end),
	};
	int mask = IBV_QP_SQ_PSN;

	if (end->plan.type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	connect_modify(end, &attr, mask);
}

/* Both ends leave this together, ready to receive and to send. */
static void connect_ends(struct end *end)
{
	connect_init(end);
	side_meet(0);
	side_send(&end->self, sizeof(end->self));
	side_recv(&end->peer, sizeof(end->peer));
	connect_rtr(end);
	connect_rts(end);
	side_meet(0);
}

#endif
