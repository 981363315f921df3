package deletes

import (
	"encoding/binary"
	"hash/maphash"
)

// Values is a set of deleted column values: for a scope, a small number that the caller gives a meaning, and a key, the
// bytes that stand for a row's values, it has the highest data sequence number of the equality deletes that have that row.
// Bytes are compared, never only their hashes. The zero value is empty. It is safe for concurrent use once it no longer
// changes.
//
// A key costs its own bytes and 21 to 32 more: 10 for what belongs to it, the rest for its share of the slots.
type Values struct {
	slots  []uint64 // open addressing: an entry's tag and its place, 0 for none; a power of 2 of them
	count  int
	blocks [][]byte // entries one after the other, each whole in one block
	held   int64    // bytes of blocks
}

const (
	blockBits = 18 // of a place: where the entry begins in its block. What doesn't fit there has a block of its own
	placeBits = 44 // of a slot: 1 + the entry's place
	placeMask = 1<<placeBits - 1

	leastBlock    = 4096 // bytes; blocks are larger the more there are
	sequenceBytes = 8
	leastSlots    = 64
)

var hashSeed = maphash.MakeSeed()

// None is what Sequence gives for a key that isn't deleted: below all sequence numbers.
const None int64 = -1

// Add says that the key is deleted in the scope by a delete of that sequence number. It copies the key.
func (v *Values) Add(scope int, key []byte, sequence int64) {
	if v.count >= len(v.slots)/4*3 {
		v.grow()
	}
	hash := hashOf(scope, key)
	slot, entry := v.find(hash, scope, key)
	if entry != nil {
		if held := binary.LittleEndian.Uint64(entry); sequence > int64(held) {
			binary.LittleEndian.PutUint64(entry, uint64(sequence))
		}
		return
	}
	v.slots[slot] = tagOf(hash) | v.store(scope, key, sequence)
	v.count++
}

// Sequence returns the highest sequence number at which the key is deleted in the scope, or None.
func (v *Values) Sequence(scope int, key []byte) int64 {
	if v.count == 0 {
		return None
	}
	if _, entry := v.find(hashOf(scope, key), scope, key); entry != nil {
		return int64(binary.LittleEndian.Uint64(entry))
	}
	return None
}

// Count returns how many keys there are, over all scopes.
func (v *Values) Count() int { return v.count }

// Bytes returns about how many bytes of memory the set holds.
func (v *Values) Bytes() int64 { return v.held + int64(len(v.slots))*8 + int64(cap(v.blocks))*24 }

// find returns the slot of the key, and its entry, nil when it isn't there and the slot is free for it.
func (v *Values) find(hash uint64, scope int, key []byte) (slot uint64, entry []byte) {
	mask, tag := uint64(len(v.slots)-1), tagOf(hash)
	for slot = hash & mask; ; slot = (slot + 1) & mask {
		held := v.slots[slot]
		switch {
		case held == 0:
			return slot, nil
		case held&^placeMask != tag:
			continue
		}
		entry = v.entry(held)
		if entryScope, entryKey := open(entry); entryScope == scope && string(entryKey) == string(key) {
			return slot, entry
		}
	}
}

// grow doubles the slots.
func (v *Values) grow() {
	old := v.slots
	v.slots = make([]uint64, max(leastSlots, 2*len(old)))
	mask := uint64(len(v.slots) - 1)
	for _, held := range old {
		if held == 0 {
			continue
		}
		slot := hashOf(open(v.entry(held))) & mask
		for v.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		v.slots[slot] = held
	}
}

// tagOf returns the bits of a slot that tell most other keys apart without a look at theirs. The low bits of the hash
// chose the slot already.
func tagOf(hash uint64) uint64 { return hash &^ placeMask }

func hashOf(scope int, key []byte) uint64 {
	h := maphash.Bytes(hashSeed, key) + uint64(scope)*0x9e3779b97f4a7c15
	h ^= h >> 32 // so that the scope reaches all bits
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// store writes an entry and returns 1 + its place: the sequence number, the scope, the key's length, the key.
func (v *Values) store(scope int, key []byte, sequence int64) uint64 {
	size := sequenceBytes + 2*binary.MaxVarintLen64 + len(key)
	last := len(v.blocks) - 1
	if last < 0 || cap(v.blocks[last])-len(v.blocks[last]) < size {
		room := max(size, min(1<<blockBits, int(v.held)+leastBlock))
		v.blocks = append(v.blocks, make([]byte, 0, room))
		v.held += int64(room)
		last++
	}
	block := v.blocks[last]
	place := uint64(last)<<blockBits | uint64(len(block))
	block = binary.LittleEndian.AppendUint64(block, uint64(sequence))
	block = binary.AppendUvarint(block, uint64(scope))
	block = binary.AppendUvarint(block, uint64(len(key)))
	v.blocks[last] = append(block, key...)
	return place + 1
}

// entry returns the bytes from where the slot's entry begins on.
func (v *Values) entry(slot uint64) []byte {
	place := slot&placeMask - 1
	return v.blocks[place>>blockBits][place&(1<<blockBits-1):]
}

// open returns what an entry is of.
func open(entry []byte) (scope int, key []byte) {
	n, width := binary.Uvarint(entry[sequenceBytes:])
	rest := entry[sequenceBytes+width:]
	length, width := binary.Uvarint(rest)
	return int(n), rest[width : width+int(length)]
}
