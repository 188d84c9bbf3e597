/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_TX_H
#define RXE_TX_H

#include <linux/types.h>

#include "rxe_icrc_row.h"
#include "rxe_route.h"

/* As many as a receiver takes from a virtual device, include/linux/virtio_net.h */
#define RXE_TX_PACKETS	128

struct rxe_pkt_info;
struct rxe_qp;
struct sk_buff;

/**
 * struct rxe_tx - Packets of one side of a QP that leave together
 * @head: the first of them, which carries the others; NULL if there are none
 * @tail: the last of the others
 * @count: packets
 * @bytes: of all of them, from the IP header to the ICRC
 * @size: of the first one, likewise
 * @most: what another one may have, likewise
 * @vain: retries in a row that gained next to nothing
 * @ip_id: of the next IPv4 packet
 * @cut: the others are not carried but have become bytes of the first one
 * @dropped: this host has dropped some since somebody looked
 * @route: to the peer
 * @icrc_row: headers of an earlier packet, for the ICRC of the next
 *
 * Only the side's run touches it, and leaves it empty.
 */
struct rxe_tx {
	struct sk_buff	*head;
	struct sk_buff	*tail;
	unsigned int	count;
	unsigned int	bytes;
	unsigned int	size;
	unsigned int	most;
	unsigned int	vain;
	u16		ip_id;
	bool		cut;
	bool		dropped;
	struct rxe_route route;
	struct rxe_icrc_row icrc_row;
};

/* The side's run; @skb is consumed */
void rxe_tx_set_route(struct rxe_tx *tx, struct rxe_qp *qp,
		      struct sk_buff *skb);
void rxe_tx_add(struct rxe_tx *tx, const struct rxe_pkt_info *pkt,
		struct sk_buff *skb);
void rxe_tx_retry(struct rxe_tx *tx, u32 gained);
void rxe_tx_flush(struct rxe_tx *tx, struct rxe_qp *qp);

/* Anyone who has the packets */
bool rxe_tx_fits(const struct rxe_tx *tx, const struct sk_buff *skb);
void rxe_tx_begin(struct rxe_tx *tx, struct sk_buff *skb, unsigned int most,
		  bool cut);
bool rxe_tx_join(struct rxe_tx *tx, struct sk_buff *skb);
struct sk_buff *rxe_tx_take(struct rxe_tx *tx);

#endif /* RXE_TX_H */
