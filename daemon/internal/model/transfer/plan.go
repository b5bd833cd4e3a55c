package transfer

import (
	"cmp"
	"fmt"

	"fulmen/daemon/internal/rank/files/wire"
)

// item is something to fetch: a blob, or a file without a known hash.
type item struct {
	file  int // by which the sender is asked for it
	files int // how many it is for
	size  int64
	hash  string // what it must have: SHA-256, or Git's SHA-1
	at    string // where it goes, below the repository

	resumed   int64 // what an earlier copy left of it
	isRetried bool
}

// partial is where it is until it is whole.
func (i *item) partial() string { return blob(i.hash) + partialSuffix }

// plan finds what lacks, and makes the folders for it where there is room.
func (r *receiver) plan() ([]*item, error) {
	var items, unnamed []*item
	blobs := map[string]*item{} // nil for one that is there
	whole := func(size int64) {
		r.progress.DoneBytes += size
		r.progress.TotalBytes += size
		r.progress.Verified++
	}
	for n, f := range r.list.files {
		if r.has(r.snapshot(f.Path), f.Size) || f.Hash == "" && r.has(r.staged(f.Path), f.Size) {
			whole(f.Size)
			continue
		}
		if it, isKnown := blobs[f.Hash]; isKnown && f.Hash != "" {
			if it == nil {
				whole(0)
			} else {
				it.files++
			}
			continue
		}
		it := &item{file: n, files: 1, size: f.Size, hash: f.Hash, at: blob(f.Hash)}
		switch {
		case f.Hash == "":
			it.at = r.staged(f.Path)
			unnamed = append(unnamed, it)
		case r.has(it.at, f.Size) || r.reuse(f.Hash, f.Size):
			blobs[f.Hash] = nil
			whole(f.Size)
			continue
		default:
			blobs[f.Hash] = it
		}
		items = append(items, it)
		r.progress.TotalBytes += f.Size
	}
	if err := r.askSums(unnamed); err != nil {
		return nil, err
	}
	if err := r.room(r.resume(items)); err != nil {
		return nil, err
	}
	for _, folder := range []string{blobsDir, snapshotsDir, r.staged("")} {
		if err := r.repo.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// askSums asks for the hashes of files of which none is known.
func (r *receiver) askSums(items []*item) error {
	for len(items) > 0 {
		some := items[:min(window, len(items))]
		items = items[len(some):]
		for _, it := range some {
			if err := r.ask(request{File: it.file, Sum: true}); err != nil {
				return err
			}
		}
		for _, it := range some {
			sums, err := expect[wire.HashList](r, wire.Hashes)
			if err == nil && (len(sums) != 1 || sums[0] == "") {
				err = fmt.Errorf("%w: not the hash of one file", wire.ErrProtocol)
			}
			if err != nil {
				return err
			}
			it.hash = sums[0]
		}
	}
	return nil
}

// expect reads an answer of the kind, however long the sender waits for it itself.
func expect[T interface{ Valid() bool }](r *receiver, kind wire.Kind) (value T, err error) {
	for {
		got, data, err := r.conn.Read()
		switch {
		case err != nil:
			return value, err
		case got == kind:
			return wire.Decode[T](data)
		case got != wire.Waiting:
			return value, wire.Unexpected(got, data)
		}
		r.beat()
	}
}

// ask sends a request. Where that cannot be, why is what the sender wrote last.
func (r *receiver) ask(q request) error {
	err := cmp.Or(r.conn.Send(wire.Ask, q), r.conn.Flush())
	if err == nil {
		return nil
	}
	for {
		kind, data, readErr := r.conn.Read()
		switch {
		case readErr != nil:
			return err
		case kind == wire.Refused:
			return wire.Unexpected(kind, data)
		}
	}
}

// resume finds what an earlier copy left, whole chunks of it, and gives how many bytes
// lack. Of files with the same contents the first has it.
func (r *receiver) resume(items []*item) (lacks int64) {
	seen := map[string]bool{}
	for _, it := range items {
		if info, err := r.repo.Lstat(it.partial()); err == nil && info.Mode().IsRegular() && !seen[it.hash] {
			it.resumed = min(info.Size(), it.size)
			if it.resumed < it.size || info.Size() > it.size {
				it.resumed -= it.resumed % chunkBytes
			}
		}
		seen[it.hash] = true
		lacks += it.size - it.resumed
	}
	return lacks
}
