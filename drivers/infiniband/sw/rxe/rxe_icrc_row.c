// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The CRC of the headers of packets in a row.
 *
 * Stage:	the ICRC, of packets whose payload is in other pieces
 * In:		headers up to the BTH, masked
 * Out:		their CRC
 * Context:	any
 * Locks:	none; the row is the caller's
 * Never:	takes headers for those of the row without having compared all
 *
 * A CRC is linear: those of two texts of one length differ by the CRC, begun
 * with 0, of what the texts differ by. In the middle of a message that is the
 * low byte of IPv4's id, the opcode, the bit that asks for an ACK and the low
 * byte of the PSN, so four look-ups do in place of a CRC of 40 or 60 bytes, of
 * which most is the price of asking for the CPU's vector registers.
 */
#include <linux/cache.h>
#include <linux/crc32.h>
#include <linux/init.h>
#include <linux/ip.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "rxe.h"
#include "rxe_icrc_row.h"

/* Bytes that differ from packet to packet, by what is behind them */
enum { ID, OPCODE, ACK, PSN, PLACES };

static const u8 bytes_behind[PLACES] = {
	[ID]	 = 34,	/* in headers with IPv4 */
	[OPCODE] = 11,
	[ACK]	 = 3,
	[PSN]	 = 0,
};

/* The CRC of such a byte, and as many of 0 */
static u32 crc_of[PLACES][256] __ro_after_init;

/**
 * rxe_icrc_row_init() - Make the tables
 *
 * Context: before there is a packet.
 */
void __init rxe_icrc_row_init(void)
{
	u8 bytes[35] = {};
	int place, value;

	for (place = 0; place < PLACES; place++)
		for (value = 0; value < 256; value++) {
			bytes[0] = value;
			crc_of[place][value] =
				crc32_le(0, bytes, 1 + bytes_behind[place]);
		}
}

static u32 diff4(const u8 *a, const u8 *b)
{
	return get_unaligned_le32(a) ^ get_unaligned_le32(b);
}

static u64 diff8(const u8 *a, const u8 *b)
{
	return get_unaligned_le64(a) ^ get_unaligned_le64(b);
}

#define LOW_BYTE_OF_ID	(0xffull << 40)

/* IP's and UDP's headers; @id: what the low bytes of IPv4's ids differ by */
static bool same_way(const u8 *a, const u8 *b, u32 len, u8 *id)
{
	u64 first = diff8(a, b);

	if (unlikely(len != sizeof(struct iphdr) + sizeof(struct udphdr)))
		return !memcmp(a, b, len);

	*id = first >> 40;
	return !((first & ~LOW_BYTE_OF_ID) | diff8(a + 8, b + 8) |
		 diff8(a + 16, b + 16) | diff4(a + 24, b + 24));
}

static u32 begin_anew(struct rxe_icrc_row *row, const u8 *hdr, u32 len)
{
	row->len = len;
	memcpy(row->hdr, hdr, len);
	row->crc = crc32_le(RXE_ICRC_SEED, hdr, len);
	return row->crc;
}

/**
 * rxe_icrc_row_crc() - The CRC of the headers of the next packet
 * @row: headers of a packet before
 * @hdr: the headers, masked, from IP's on
 * @len: their bytes, with IPv4 or IPv6
 *
 * Return: the CRC, seeded with RXE_ICRC_SEED, to go on with
 */
u32 rxe_icrc_row_crc(struct rxe_icrc_row *row, const u8 *hdr, u32 len)
{
	u32 way = len - RXE_BTH_BYTES;
	u64 start;	/* of the BTH: opcode, flags, P_Key, QP number */
	u32 end;	/* AckReq, PSN */
	u8 id = 0;

	if (len != row->len || !same_way(hdr, row->hdr, way, &id))
		return begin_anew(row, hdr, len);

	start = diff8(hdr + way, row->hdr + way);
	end = diff4(hdr + way + 8, row->hdr + way + 8);
	if (start > 0xff || end & 0x00ffff00)
		return begin_anew(row, hdr, len);

	return row->crc ^ crc_of[ID][id] ^ crc_of[OPCODE][start] ^
	       crc_of[ACK][end & 0xff] ^ crc_of[PSN][end >> 24];
}
