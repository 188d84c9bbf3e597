/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_ICRC_ROW_H
#define RXE_ICRC_ROW_H

#include <linux/ipv6.h>
#include <linux/types.h>
#include <linux/udp.h>

#include "rxe_hdr.h"

/* IP's, of which IPv6's is the longer one, UDP's and the BTH */
#define RXE_ICRC_HDR_BYTES	(sizeof(struct ipv6hdr) + \
				 sizeof(struct udphdr) + RXE_BTH_BYTES)

/* The CRC, seeded with 0xffffffff, of the 8 bytes 0xff of a masked LRH */
#define RXE_ICRC_SEED		0xdebb20e3

/**
 * struct rxe_icrc_row - Headers of a packet, and their CRC
 * @len: their bytes; 0: there was no packet yet
 * @crc: as crc32_le() has it between the headers and what follows them
 * @hdr: the headers, masked as for the ICRC
 *
 * It need not be the packet before, only one that has most in common with those
 * to come.
 */
struct rxe_icrc_row {
	u32	len;
	u32	crc;
	u8	hdr[RXE_ICRC_HDR_BYTES];
};

static inline void rxe_icrc_row_begin(struct rxe_icrc_row *row)
{
	row->len = 0;
}

/* Module init */
void rxe_icrc_row_init(void);

/* Whoever has the row */
u32 rxe_icrc_row_crc(struct rxe_icrc_row *row, const u8 *hdr, u32 len);

#endif /* RXE_ICRC_ROW_H */
