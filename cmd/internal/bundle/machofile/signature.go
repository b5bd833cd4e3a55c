package machofile

import (
	"bytes"
	"crypto/sha256"
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Signature is what a file's signature says.
type Signature struct {
	// Identifier is the signing identifier.
	Identifier string
	// Team is the signer's team; empty where it is ad hoc.
	Team string
	// AdHoc says that nobody vouches for it.
	AdHoc bool
	// Runtime says that the hardened runtime is asked for.
	Runtime bool
	// Hash is the first 20 bytes of the directory's SHA-256, by which the system
	// and other signatures name the file.
	Hash []byte

	special map[int][]byte
}

// Numbers of <kern/cs_blobs.h>; what a signature is made of is big-endian.
const (
	magicSignature     = 0xfade0cc0
	magicDirectory     = 0xfade0c02
	slotDirectory      = 0
	slotRequirements   = 2
	slotEntitlements   = 5
	slotAlternate      = 0x1000
	flagAdHoc          = 0x2
	flagRuntime        = 0x10000
	hashSHA256         = 2
	smallestDirectory  = 44
	versionWithTeam    = 0x20200
	teamAt             = 48
	hashSize, hashKind = 36, 37
)

// Places of special hashes, before those of the pages.
const (
	// InfoSlot is Info.plist's.
	InfoSlot = 1
	// ResourcesSlot is the slot of the list of the bundle's files.
	ResourcesSlot = 3
)

// Signature reads the file's signature and holds every page of the file against
// it. The error says what differs. Hashes other than SHA-256 are not looked at.
func (f *File) Signature() (*Signature, error) {
	at := slices.IndexFunc(f.loads, func(l macho.Load) bool { return word(l.Raw(), 0) == signature })
	if at < 0 || len(f.loads[at].Raw()) < 16 {
		return nil, errors.New("is not signed")
	}
	start, size := int(word(f.loads[at].Raw(), 2)), int(word(f.loads[at].Raw(), 3))
	if start > len(f.data) || size > len(f.data)-start {
		return nil, errors.New("the signature lies outside of the file")
	}
	blobs, err := blobsOf(f.data[start : start+size])
	if err != nil {
		return nil, err
	}
	// An older directory with another hash may come first; then this is an alternate.
	for _, slot := range []uint32{slotDirectory, slotAlternate, slotAlternate + 1} {
		if d := blobs[slot]; len(d) >= smallestDirectory && big(d) == magicDirectory && d[hashKind] == hashSHA256 && d[hashSize] == sha256.Size {
			s, err := f.directory(d, start)
			if err != nil {
				return nil, err
			}
			return s, s.enclosed(blobs)
		}
	}
	return nil, errors.New("the signature has no directory with SHA-256")
}

// blobsOf gives the parts of a signature by their slots.
func blobsOf(data []byte) (map[uint32][]byte, error) {
	bad := errors.New("the signature is malformed")
	if len(data) < 12 || big(data) != magicSignature || int(big(data[8:])) > len(data)/8 {
		return nil, bad
	}
	blobs := map[uint32][]byte{}
	for n := range int(big(data[8:])) {
		if 12+8*n+8 > len(data) {
			return nil, bad
		}
		entry := data[12+8*n:]
		from := int(big(entry[4:]))
		if from > len(data)-8 {
			return nil, bad
		}
		size := int(big(data[from+4:]))
		if size < 8 || size > len(data)-from {
			return nil, bad
		}
		blobs[big(entry)] = data[from : from+size]
	}
	return blobs, nil
}

// directory reads the list of hashes, and compares those of the pages.
func (f *File) directory(d []byte, start int) (*Signature, error) {
	hashes, identifier := int(big(d[16:])), int(big(d[20:]))
	special, pages, limit, bits := int(big(d[24:])), int(big(d[28:])), int(big(d[32:])), int(d[39])
	if bits < 10 || bits > 20 || limit > start || pages != (limit+1<<bits-1)>>bits ||
		special > 32 || hashes < special*sha256.Size || hashes > len(d) || pages > (len(d)-hashes)/sha256.Size || identifier > len(d) {
		return nil, errors.New("the signature's directory is malformed")
	}
	if limit != start {
		return nil, fmt.Errorf("the signature covers %d bytes of %d", limit, start)
	}
	flags := big(d[12:])
	sum := sha256.Sum256(d)
	s := &Signature{AdHoc: flags&flagAdHoc != 0, Runtime: flags&flagRuntime != 0, Hash: sum[:20], special: map[int][]byte{}}
	s.Identifier = ended(d[identifier:])
	if big(d[8:]) >= versionWithTeam && len(d) >= teamAt+4 {
		if team := int(big(d[teamAt:])); team > 0 && team < len(d) {
			s.Team = ended(d[team:])
		}
	}
	for slot := 1; slot <= special; slot++ {
		s.special[slot] = d[hashes-slot*sha256.Size:][:sha256.Size]
	}
	for page := range pages {
		sum := sha256.Sum256(f.data[page<<bits : min((page+1)<<bits, limit)])
		if !bytes.Equal(sum[:], d[hashes+page*sha256.Size:][:sha256.Size]) {
			return nil, fmt.Errorf("was changed after it was signed: the signature does not match bytes %d to %d", page<<bits, min((page+1)<<bits, limit)-1)
		}
	}
	return s, nil
}

// enclosed holds the parts of the signature itself against its directory.
func (s *Signature) enclosed(blobs map[uint32][]byte) error {
	for _, slot := range []uint32{slotRequirements, slotEntitlements} {
		if blob, ok := blobs[slot]; ok && !s.Sealed(int(slot), blob) {
			return fmt.Errorf("part %d of the signature was changed after it was signed", slot)
		}
	}
	return nil
}

// Sealed reports whether the signature vouches for the content of a special
// slot, such as InfoSlot.
func (s *Signature) Sealed(slot int, content []byte) bool {
	sum := sha256.Sum256(content)
	return bytes.Equal(s.special[slot], sum[:])
}

// ended is a text with a zero behind it.
func ended(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}

func big(b []byte) uint32 { return binary.BigEndian.Uint32(b) }
