package wire

// Kind says what a frame is.
type Kind byte

const (
	// Entries is a part of the list of what the folder holds: a JSON array of [Entry].
	Entries Kind = 'l'
	// Listed ends that list: a [Listing].
	Listed Kind = 'L'
	// Hash asks for the hashes of files: an array of indices.
	Hash Kind = 'h'
	// Hashes are answers in the order of the questions: an array of hex SHA-256,
	// empty for a file that cannot be read any more.
	Hashes Kind = 'a'
	// Hashed says that all questions, or all answers, have been given; empty.
	Hashed Kind = 'A'
	// Want asks for files: an array of indices.
	Want Kind = 'w'
	// Wanted says that no more is wanted; empty.
	Wanted Kind = 'W'
	// File begins a file: a [Begin].
	File Kind = 'f'
	// Data is a part of a file's contents.
	Data Kind = 'd'
	// End ends a file: an [Ending].
	End Kind = 'e'
	// Sent says that all that was wanted has been sent; empty.
	Sent Kind = 'S'
	// Thanks says that it has all arrived and is in place; empty.
	Thanks Kind = 'T'
	// Model begins the copy of a model: see package transfer, as for the three that follow.
	Model Kind = 'm'
	// ModelFiles is a part of the list of its files: a JSON array.
	ModelFiles Kind = 'M'
	// Ask asks for a chunk of a file, or for its hash.
	Ask Kind = 'q'
	// Chunk begins the answer: its size and hash.
	Chunk Kind = 'k'
	// Waiting says that an answer takes its time; empty.
	Waiting Kind = 'z'
	// Refused says why there is no more: an api.Error.
	Refused Kind = 'r'
	// Task tells an end what it is to do, and comes from its own daemon: see [PackTask] and [UnpackTask].
	Task Kind = 't'
	// Clean tells a receiving end to remove old copies in place of making one: a [CleanTask].
	Clean Kind = 'c'
)

// limit is the longest frame of a kind; -1 for what is no kind.
func (k Kind) limit() int {
	switch k {
	case Data, Entries, Hash, Hashes, Want, Clean, ModelFiles, Task:
		return MaxFrameBytes
	case Listed, File, End, Refused, Model, Ask, Chunk:
		return MaxWordBytes
	case Hashed, Wanted, Sent, Thanks, Waiting:
		return 0
	}
	return -1
}

const (
	// MaxFrameBytes bounds a frame that holds a part of something longer.
	MaxFrameBytes = 256 << 10
	// MaxWordBytes bounds any other.
	MaxWordBytes = 16 << 10
	// headBytes is the kind and the length.
	headBytes = 5
)
