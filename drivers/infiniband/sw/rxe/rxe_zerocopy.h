/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_ZEROCOPY_H
#define RXE_ZEROCOPY_H

#include <linux/bvec.h>
#include <linux/gfp.h>
#include <linux/types.h>

struct rxe_qp;
struct rxe_send_wqe;
struct rxe_pkt_info;
struct sk_buff;

/* A payload, at most 4 KiB, touches no more than two pages of a region; if it is
 * in more, of a region with smaller ones, it is copied
 */
#define RXE_ZEROCOPY_PAGES	2

/**
 * struct rxe_zerocopy_run - What the packets of a run have in common
 * @asked: the network device has been asked for the next two
 * @takes: it takes fragments
 * @cuts: it cuts units
 * @trailer: memory for what follows the payload of the next packet
 * @trailers: there is so much, with one reference for all of it
 */
struct rxe_zerocopy_run {
	bool		asked;
	bool		takes;
	bool		cuts;
	void		*trailer;
	unsigned int	trailers;
};

/**
 * struct rxe_zerocopy - A packet's payload where its consumer has it
 * @pages: parts of pages, in order; nobody holds a reference
 * @count: how many; 0: it has to be copied
 * @trailer: memory for what follows the payload, with a reference
 */
struct rxe_zerocopy {
	struct bio_vec	pages[RXE_ZEROCOPY_PAGES];
	unsigned int	count;
	void		*trailer;
};

/* So many packets are copied after a retry */
#define RXE_ZEROCOPY_COPIES	256

/* References to pages cost more than to copy less than this */
#define RXE_ZEROCOPY_BYTES	2048

bool rxe_zerocopy_find_pages(struct rxe_zerocopy *zc, struct rxe_qp *qp,
			     struct rxe_send_wqe *wqe, u32 payload);
void rxe_zerocopy_free_trailers(struct rxe_zerocopy_run *run);
void rxe_zerocopy_attach(const struct rxe_zerocopy *zc,
			 struct rxe_pkt_info *pkt, struct sk_buff *skb);

/**
 * rxe_zerocopy_find() - Find the pages of a packet's payload
 * @zc: filled in if it is to be used
 * @qp: the QP
 * @wqe: the WQE, which may go on to the SGE of the next byte
 * @payload: bytes
 *
 * Context: the send side's run.
 * Return: false if the payload has to be copied
 */
static inline bool rxe_zerocopy_find(struct rxe_zerocopy *zc,
				     struct rxe_qp *qp,
				     struct rxe_send_wqe *wqe, u32 payload)
{
	return payload >= RXE_ZEROCOPY_BYTES &&
	       rxe_zerocopy_find_pages(zc, qp, wqe, payload);
}

/**
 * rxe_zerocopy_rest() - End a run of the send side
 * @run: the side's
 *
 * Context: the send side's run, or while it is stopped.
 */
static inline void rxe_zerocopy_rest(struct rxe_zerocopy_run *run)
{
	run->asked = false;
	if (run->trailers)
		rxe_zerocopy_free_trailers(run);
}

/**
 * rxe_zerocopy_drop() - There is no packet for the pages
 * @zc: of rxe_zerocopy_find(), with pages
 */
static inline void rxe_zerocopy_drop(struct rxe_zerocopy *zc)
{
	page_frag_free(zc->trailer);
}

#endif /* RXE_ZEROCOPY_H */
