package native

import "context"

// Facts is how a platform tells what it knows.
type Facts interface {
	// Snapshot reads the given areas now and nothing else: reading memory must
	// not walk the Thunderbolt registry. It answers partly rather than not at
	// all; the error is for a platform that cannot be asked any more
	// ([ErrClosed], an ended context).
	Snapshot(ctx context.Context, areas ...Area) (Snapshot, error)

	// Watch arms every source of hints and returns once they are armed, so that
	// a snapshot taken after it misses nothing. The callback may come from any
	// thread, one at a time, and must return at once without calling back into
	// the platform. After stop has returned it is not called again. A platform
	// with no hints at all returns an error that matches [ErrUnsupported]; one
	// with some says in its capabilities which areas lack them.
	Watch(hint func(Hint)) (stop func() error, err error)

	// Capabilities answers every feature of [AllFeatures].
	Capabilities(ctx context.Context) (Capabilities, error)
}
