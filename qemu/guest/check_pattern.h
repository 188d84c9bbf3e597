/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The bytes of a message: a function of the seed and the message's number,
 * different in every byte position and every message, so that a byte that is
 * lost, doubled, moved or left over from an earlier message shows.
 */
#ifndef CHECK_PATTERN_H
#define CHECK_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What memory holds where no message may reach. */
#define PATTERN_GUARD 0xa5

/* A bijective mix of 64 bits (the finisher of splitmix64). */
static uint64_t pattern_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Eight bytes of message @msg, those from byte 8 * @index on. */
static uint64_t pattern_word(uint64_t seed, uint64_t msg, uint64_t index)
{
	return pattern_mix(pattern_mix(seed + msg * 0x9e3779b97f4a7c15u) +
			   index * 0x9e3779b97f4a7c15u);
}

static void pattern_fill(void *data, size_t size, uint64_t seed, uint64_t msg)
{
	uint64_t base = pattern_mix(seed + msg * 0x9e3779b97f4a7c15u);
	char *at = data;

	while (size) {
		size_t n = size < 8 ? size : 8;
		uint64_t word = pattern_mix(base);

		memcpy(at, &word, n);
		base += 0x9e3779b97f4a7c15u;
		at += n;
		size -= n;
	}
}

/* The first byte that differs from the pattern, or @size. */
static size_t pattern_find(const void *data, size_t size, uint64_t seed,
			   uint64_t msg)
{
	uint64_t base = pattern_mix(seed + msg * 0x9e3779b97f4a7c15u);
	const char *at = data;
	size_t done = 0;

	while (done < size) {
		size_t n = size - done < 8 ? size - done : 8;
		uint64_t word = pattern_mix(base);

		if (memcmp(at + done, &word, n))
			break;
		base += 0x9e3779b97f4a7c15u;
		done += n;
	}
	while (done < size) {
		uint64_t word = pattern_word(seed, msg, done / 8);

		if (at[done] != ((char *)&word)[done % 8])
			break;
		done++;
	}
	return done;
}

/* The first byte that is no guard byte, or @size. */
static size_t pattern_find_guard(const void *data, size_t size)
{
	const uint8_t *at = data;
	size_t done = 0;

	while (done < size && at[done] == PATTERN_GUARD)
		done++;
	return done;
}

#endif
