package main

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// Memory is given back once what needed it is over, and once only.
func TestTrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var trimmed atomic.Int64
		trim := &trimmer{trim: func() { trimmed.Add(1) }, allocated: allocated()}
		work := func() {
			is.True(len(make([]byte, 2*trimBytes)) > 0)
			trim.arm()
		}
		quiet := func() {
			time.Sleep(time.Hour)
			synctest.Wait()
		}
		trim.arm()
		quiet()
		is.Equal(trimmed.Load(), int64(0)) // a collection for nothing

		work()
		time.Sleep(trimAfter / 2)
		work()
		time.Sleep(trimAfter * 3 / 4)
		synctest.Wait()
		is.Equal(trimmed.Load(), int64(0)) // it has not been quiet for long enough
		quiet()
		is.Equal(trimmed.Load(), int64(1))
		quiet()
		is.Equal(trimmed.Load(), int64(1))
		work()
		quiet()
		is.Equal(trimmed.Load(), int64(2))
	})
}
