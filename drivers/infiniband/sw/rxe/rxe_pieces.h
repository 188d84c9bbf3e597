/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_PIECES_H
#define RXE_PIECES_H

#include <linux/minmax.h>
#include <linux/skbuff.h>

/**
 * rxe_pieces() - Take the pieces of a part of a packet, in order
 * @skb: the packet; it carries no others
 * @from: where the part begins in it
 * @size: bytes, all of them there
 * @take: what to do with each; another value than 0 ends it
 * @ctx: for @take
 *
 * All memory has an address, for the driver needs 64 bits.
 *
 * Return: 0, or what @take has returned
 */
static __always_inline int rxe_pieces(const struct sk_buff *skb, u32 from,
				      u32 size,
				      int (*take)(void *ctx, u8 *piece,
						  u32 len), void *ctx)
{
	const skb_frag_t *frag = skb_shinfo(skb)->frags;
	u32 end = skb_headlen(skb);
	u8 *piece = skb->data;
	u32 len;
	int err;

	for (;;) {
		if (from < end) {
			len = min(size, end - from);
			err = take(ctx, piece + from, len);
			size -= len;
			if (err || !size)
				return err;
			from = end;
		}
		from -= end;
		end = skb_frag_size(frag);
		piece = skb_frag_address(frag++);
	}
}

#endif /* RXE_PIECES_H */
