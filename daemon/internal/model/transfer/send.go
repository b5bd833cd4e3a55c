package transfer

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native"
)

// Send is the whole of `fulmend models-send`: it reads its own daemon's task, then serves
// one receiver over the two streams until that has the model. What ends it before its
// time is sent to the receiver, and given back too.
func Send(in io.Reader, out io.Writer) error {
	conn := wire.NewConn(in, out)
	task, err := wire.Expect[SendTask](conn, wire.Task)
	if err != nil {
		return err
	}
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	err = send(conn, task, clock)
	if reason := sendFailure(err, task.Model.Model); reason != nil {
		conn.Refuse(reason)
	}
	return err
}

// sendFailure is what a receiver gets to know of an error; nil where it was the receiver
// that ended.
func sendFailure(err error, model string) *api.Error {
	switch known, ok := errors.AsType[*api.Error](err); {
	case err == nil, errors.Is(err, errReceiver):
		return nil
	case ok:
		return known
	case errors.Is(err, inventory.ErrChanged), errors.Is(err, os.ErrNotExist):
		return api.Errorf(api.ReasonModelChanged, model, "%s has changed while it was copied.", model).
			WithRemedy("Copy it again when nothing writes to it: what has arrived is kept.")
	case errors.Is(err, wire.ErrProtocol):
		return unexpected(model)
	case errors.Is(err, os.ErrPermission):
		return api.Errorf(api.ReasonPermissionDenied, model, "The account may not read all files of %s.", model)
	}
	return api.Errorf(api.ReasonModelNotCopied, model, "%s could not be read%s.", model, native.ErrnoSuffix(err))
}

// errReceiver is matched where the receiver ended the exchange.
var errReceiver = errors.New("the receiver has ended")

// sender serves the chunks of a model.
type sender struct {
	conn     *wire.Conn
	content  *inventory.Content
	arriving *arriving // in place of content
	files    []File
	isPublic bool // each file is compared with its hash before it is sent
	free     chan []byte
	open     int // the file that is open; the latest one stays so
	file     *os.File
}

// answer is what is written to the receiver.
type answer struct {
	chunk     chunk
	data      []byte // nil for a sum
	buffer    []byte
	isWaiting bool // it is still to come
}

func send(conn *wire.Conn, task SendTask, clock native.Clock) error {
	s := sender{conn: conn, free: make(chan []byte, window)}
	all := inventory.Open(task.Places)
	defer all.Close()
	h, err := s.whole(all, task.Model)
	if s.content != nil {
		defer s.content.Close()
	}
	if s.isPublic = task.Public != ""; s.isPublic && (err != nil || Digest(s.files) != task.Public) {
		return api.NewError(api.ReasonNoSuchModel, task.Model.Model)
	}
	if err != nil {
		arriving, failed := openArriving(task, clock)
		if arriving == nil {
			return cmp.Or(failed, err)
		}
		defer arriving.close()
		s.arriving, s.files, h = arriving, arriving.list.files, arriving.list.header
	}
	files := slices.Clone(s.files)
	for n := range files {
		files[n].Sum = "" // it is asked for
	}
	err = cmp.Or(conn.Send(wire.Model, h), wire.SendParts(conn, wire.ModelFiles, files), conn.Flush())
	if err != nil {
		return errors.Join(errReceiver, err)
	}
	defer func() {
		if s.file != nil {
			s.file.Close()
		}
	}()
	for range window {
		s.free <- nil // made when it is needed
	}
	answers := make(chan answer, window)
	written := make(chan error, 1)
	go func() { written <- s.write(answers) }()
	err = s.serve(answers)
	close(answers)
	switch {
	case errors.Is(err, errReceiver):
		return err // nobody takes what is written
	case err != nil:
		go discard(conn)
	}
	return cmp.Or(err, <-written)
}

// whole finds a model that has all of its files.
func (s *sender) whole(all *inventory.Inventory, sel api.ModelSelect) (h header, err error) {
	if s.content, err = all.Content(sel); err != nil {
		return h, err
	}
	m := s.content.Model
	if err := sendable(m); err != nil {
		return h, err
	}
	s.files = make([]File, s.content.Count())
	h = header{Repository: m.Model, Revision: m.Revision, Refs: refsOf(m.Refs), Files: len(s.files)}
	for n := range s.files {
		f := &s.files[n]
		f.Path, f.Size, f.Hash = s.content.File(n)
		h.Bytes += f.Size
	}
	if len(s.files) > maxFiles {
		return h, api.Errorf(api.ReasonModelNotCopied, m.Model, "%s has more than %d files.", m.Model, maxFiles)
	}
	return h, nil
}

// discard reads what nobody needs: another side that still writes does not read what is
// written to it, the refusal least of all.
func discard(conn *wire.Conn) {
	for {
		if _, _, err := conn.Read(); err != nil {
			return
		}
	}
}

// sendable refuses what cannot be copied.
func sendable(m api.Model) error {
	name := m.Model
	switch {
	case m.Source != api.ModelHub:
		return api.Errorf(api.ReasonBadValue, name, "%s is not in Hugging Face's cache, and cannot be copied from %s.", name, m.Path).
			WithRemedy("Copy its folder by other means, or fetch it with huggingface_hub first.")
	case m.Complete == nil:
		return api.Errorf(api.ReasonModelIncomplete, name, "Whether %s is complete is not known: %s.", name, cmp.Or(m.Unknown["complete"], api.ReasonReadFailed)).
			WithRemedy("Look at it with: fulmen models show " + name)
	case !*m.Complete:
		return api.Errorf(api.ReasonModelIncomplete, name, "%d files of %s are missing, so it cannot be copied.", m.MissingCount, name).
			WithRemedy("Fetch it again there: what is there is kept.")
	}
	return nil
}

// refsOf are the refs that are copied, main in any case.
func refsOf(all []string) []string {
	refs := slices.DeleteFunc(slices.Clone(all), func(ref string) bool { return !inventory.IsRef(ref) })
	if n := slices.Index(refs, "main"); n > 0 {
		refs[0], refs[n] = refs[n], refs[0]
	}
	return refs[:min(len(refs), maxRefs)]
}

// serve answers requests until the receiver thanks.
func (s *sender) serve(answers chan<- answer) error {
	for {
		kind, data, err := s.conn.Read()
		switch {
		case err != nil:
			return errors.Join(errReceiver, err)
		case kind == wire.Thanks:
			return nil
		case kind == wire.Refused:
			return errors.Join(errReceiver, wire.Unexpected(kind, data))
		case kind != wire.Ask:
			return wire.Unexpected(kind, data)
		}
		r, err := wire.Decode[request](data)
		if err == nil && r.File >= len(s.files) {
			err = fmt.Errorf("%w: file %d", wire.ErrProtocol, r.File)
		}
		if err != nil {
			return err
		}
		// There are as many buffers as requests under way: this waits for nobody who
		// waits for this to read on.
		a := answer{buffer: <-s.free}
		if a.buffer == nil {
			a.buffer = make([]byte, chunkBytes)
		}
		if err := s.prepare(r, &a, func() { answers <- answer{isWaiting: true} }); err != nil {
			return err
		}
		answers <- a
	}
}

// prepare reads and hashes what was asked for. alive is called at times where that takes long.
func (s *sender) prepare(r request, a *answer, alive func()) (err error) {
	size := s.files[r.File].Size
	if a.chunk.SHA256 = s.files[r.File].Sum; r.Sum && a.chunk.SHA256 != "" {
		return nil
	}
	if s.file != nil && (s.arriving != nil || s.open != r.File) {
		s.file.Close()
		s.file = nil
	}
	switch {
	case s.file != nil:
	case s.arriving == nil:
		s.file, err = s.openWhole(r.File, a.buffer, alive)
	case r.Sum:
		s.file, err = s.arriving.open(r.File, size, alive)
	default:
		s.file, err = s.arriving.open(r.File, min(size, r.Offset+chunkBytes), alive)
	}
	if err != nil {
		s.file = nil
		return err
	}
	s.open = r.File
	sum := sha256.New()
	if r.Sum {
		if _, err := io.CopyBuffer(onlyWriter{sum}, io.NewSectionReader(s.file, 0, size), a.buffer); err != nil {
			return err
		}
	} else {
		a.chunk.Size = int(min(chunkBytes, size-r.Offset))
		if a.chunk.Size <= 0 {
			return fmt.Errorf("%w: a chunk behind the end", wire.ErrProtocol)
		}
		a.data = a.buffer[:a.chunk.Size]
		if _, err := s.file.ReadAt(a.data, r.Offset); err != nil {
			if errors.Is(err, io.EOF) {
				err = inventory.ErrChanged
			}
			return err
		}
		sum.Write(a.data)
	}
	a.chunk.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if s.arriving != nil {
		return nil // each Mac compares the whole file
	}
	return s.content.Check(r.File, s.file)
}

// openWhole opens a file, and compares it with its hash where that is to be.
func (s *sender) openWhole(n int, buffer []byte, alive func()) (*os.File, error) {
	f, err := s.content.Open(n)
	if err != nil || !s.isPublic {
		return f, err
	}
	sum := hashFor(s.files[n].Hash, s.files[n].Size)
	for at := int64(0); at < s.files[n].Size && err == nil; at += aliveBytes {
		_, err = io.CopyBuffer(onlyWriter{sum}, io.NewSectionReader(f, at, aliveBytes), buffer)
		alive()
	}
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != s.files[n].Hash {
		err = inventory.ErrChanged
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// aliveBytes is after how much that was read the receiver gets to know that it goes on.
const aliveBytes = 256 << 20

// onlyWriter hides that a hash could read by itself, with a buffer of its own.
type onlyWriter struct{ io.Writer }

// write writes answers in their order. Behind an error it goes on taking them.
func (s *sender) write(answers <-chan answer) (err error) {
	for a := range answers {
		if err == nil {
			err = s.writeOne(a)
		}
		if !a.isWaiting {
			s.free <- a.buffer
		}
	}
	if err != nil {
		return errors.Join(errReceiver, err)
	}
	return nil
}

func (s *sender) writeOne(a answer) error {
	if a.isWaiting {
		return cmp.Or(s.conn.Send(wire.Waiting, nil), s.conn.Flush())
	}
	if a.data == nil {
		return cmp.Or(s.conn.Send(wire.Hashes, wire.HashList{a.chunk.SHA256}), s.conn.Flush())
	}
	_ = s.conn.Send(wire.Chunk, a.chunk) // an error stays
	for part := range slices.Chunk(a.data, wire.MaxFrameBytes) {
		_ = s.conn.Write(wire.Data, part)
	}
	return s.conn.Flush()
}
