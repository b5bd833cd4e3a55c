package transfer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
)

// fetch has items sent and writes them; again are those that did not have their hash, and
// are fetched once more.
func (r *receiver) fetch(items []*item) (again []*item, err error) {
	w := r.newWriter()
	go w.run()
	err = r.requestAll(items, w)
	close(w.pieces)
	<-w.stopped
	return w.again, cmp.Or(w.err, err)
}

// requestAll asks for what lacks of the items and gives it to the writer.
func (r *receiver) requestAll(items []*item, w *writer) error {
	var wanted []*item
	for _, it := range items {
		if it.resumed < it.size {
			wanted = append(wanted, it)
		} else if err := w.add(piece{item: it, isLast: true}); err != nil {
			return err
		}
	}
	var asked []piece // the answers that are to come
	for _, it := range wanted {
		for offset := it.resumed; offset < it.size; offset += chunkBytes {
			if len(asked) == window {
				if err := r.take(asked[0], w); err != nil {
					return err
				}
				asked = asked[1:]
			}
			if err := r.ask(request{File: it.file, Offset: offset}); err != nil {
				return err
			}
			left := it.size - offset
			asked = append(asked, piece{item: it, size: int(min(left, chunkBytes)), isLast: left <= chunkBytes})
		}
	}
	for _, p := range asked {
		if err := r.take(p, w); err != nil {
			return err
		}
	}
	return nil
}

// take reads the answer to a request.
func (r *receiver) take(p piece, w *writer) error {
	head, err := expect[chunk](r, wire.Chunk)
	if err == nil && head.Size != p.size {
		err = fmt.Errorf("%w: a chunk of %d bytes in place of %d", wire.ErrProtocol, head.Size, p.size)
	}
	if err != nil {
		return err
	}
	if p.buffer, err = w.buffer(); err != nil {
		return err
	}
	sum := sha256.New()
	for got := 0; got < p.size; {
		data, err := r.conn.Expect(wire.Data)
		if err == nil && (len(data) == 0 || len(data) > p.size-got) {
			err = fmt.Errorf("%w: %d bytes of a chunk", wire.ErrProtocol, len(data))
		}
		if err != nil {
			return err
		}
		sum.Write(data)
		got += copy(p.buffer[got:], data)
	}
	if want, _ := hex.DecodeString(head.SHA256); !bytes.Equal(sum.Sum(nil), want) {
		name := r.list.files[p.item.file].Path
		return api.Errorf(api.ReasonModelCorrupt, name, "A part of %s arrived altered.", name).WithRemedy(keptRemedy)
	}
	return w.add(p)
}
