package transfer

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"syscall"

	"fulmen/daemon/api"
)

// buffers is how many chunks the receiver holds.
const buffers = 3

// piece is a chunk of an item.
type piece struct {
	item   *item
	buffer []byte
	size   int
	isLast bool
}

// writer writes items while the next chunks arrive, one item behind the other.
type writer struct {
	*receiver
	pieces  chan piece
	free    chan []byte
	stopped chan struct{} // closed when it has ended; then err and again hold
	err     error
	again   []*item

	item *item
	file *os.File
	sum  hash.Hash
}

func (r *receiver) newWriter() *writer {
	w := &writer{receiver: r, pieces: make(chan piece, 1), free: make(chan []byte, buffers), stopped: make(chan struct{})}
	for range buffers {
		w.free <- nil // made when it is needed
	}
	return w
}

// buffer gives room for a chunk, or the error that ended the writer.
func (w *writer) buffer() ([]byte, error) {
	select {
	case b := <-w.free:
		if b == nil {
			b = make([]byte, chunkBytes)
		}
		return b, nil
	case <-w.stopped:
		return nil, w.err
	}
}

// add gives the writer a piece.
func (w *writer) add(p piece) error {
	select {
	case w.pieces <- p:
		return nil
	case <-w.stopped:
		return w.err
	}
}

// run writes until there are no more pieces.
func (w *writer) run() {
	defer close(w.stopped)
	defer func() {
		if w.file != nil {
			w.err = errors.Join(w.err, w.file.Close()) // it was cut: what is there stays
		}
	}()
	for p := range w.pieces {
		if w.err = w.write(p); w.err != nil {
			return
		}
		if p.buffer != nil {
			w.free <- p.buffer
		}
	}
}

func (w *writer) write(p piece) error {
	if w.file == nil {
		if err := w.open(p.item); err != nil {
			return err
		}
	}
	if _, err := w.file.Write(p.buffer[:p.size]); err != nil {
		return err
	}
	w.sum.Write(p.buffer[:p.size])
	if p.isLast {
		if err := w.finish(); err != nil {
			return err
		}
	}
	return w.moved(int64(p.size))
}

// moved counts and reports.
func (w *writer) moved(bytes int64) error {
	w.progress.DoneBytes += bytes
	w.beat()
	return w.reporter.Model(w.progress, false)
}

// open goes on with an item where an earlier copy was cut.
func (w *writer) open(it *item) (err error) {
	w.item, w.sum = it, hashFor(it.hash, it.size)
	if w.file, err = w.repo.OpenFile(it.partial(), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644); err != nil {
		w.file = nil
		return err
	}
	if err := w.file.Truncate(it.resumed); err != nil {
		return err
	}
	for at := int64(0); at < it.resumed; {
		n, err := io.CopyN(w.sum, w.file, min(chunkBytes, it.resumed-at))
		if err != nil {
			return err
		}
		at += n
		if err := w.moved(n); err != nil {
			return err
		}
	}
	return nil
}

// hashFor computes a hash of the kind of another one.
func hashFor(known string, size int64) hash.Hash {
	if len(known) != 2*sha1.Size {
		return sha256.New()
	}
	sum := sha1.New() // as Git names a blob
	fmt.Fprintf(sum, "blob %d\x00", size)
	return sum
}

// finish puts an item in its place, or has it fetched again.
func (w *writer) finish() error {
	it, file := w.item, w.file
	if hex.EncodeToString(w.sum.Sum(nil)) != it.hash {
		name := w.list.files[it.file].Path
		if err := w.repo.Remove(it.partial()); err != nil {
			return err
		}
		if it.isRetried {
			return api.Errorf(api.ReasonModelCorrupt, name, "%s of %s is not what its name says.", name, w.list.Repository).
				WithRemedy("Verify the model on the Mac that has it: fulmen models verify " + w.list.Repository)
		}
		it.resumed, it.isRetried = 0, true
		w.again = append(w.again, it)
		w.progress.DoneBytes -= it.size
		w.file = nil
		return file.Close()
	}
	if err := file.Sync(); err != nil {
		return err
	}
	w.file = nil
	if err := file.Close(); err != nil {
		return err
	}
	if err := w.repo.MkdirAll(path.Dir(it.at), 0o755); err != nil {
		return err
	}
	if err := w.repo.Rename(it.partial(), it.at); err != nil {
		return err
	}
	w.progress.Verified += it.files
	return nil
}
