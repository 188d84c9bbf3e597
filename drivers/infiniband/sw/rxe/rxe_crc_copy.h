/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_CRC_COPY_H
#define RXE_CRC_COPY_H

#include <linux/types.h>

struct rxe_mr;

/* Fewer bytes cost less in two passes: in the second they are in the cache, and
 * the vector registers are asked for once more
 */
#define RXE_CRC_COPY_BYTES	512

/* Any context */
u32 rxe_crc_copy(u32 crc, void *to, const void *from, size_t len);

/* Whoever holds the region; process if it is paged on demand */
int rxe_crc_copy_mr(u32 *crc, void *to, struct rxe_mr *mr, u64 iova,
		    u32 length);

#endif /* RXE_CRC_COPY_H */
