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

// A daemon among many allocates a little all the time: a burst ends all the same,
// and what it needed is given back once.
func TestABurstAmongManyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var trimmed atomic.Int64
		trim := &trimmer{trim: func() { trimmed.Add(1) }, allocated: allocated()}
		is.True(len(make([]byte, 2*trimBytes)) > 0)
		trim.arm()
		for range 3 {
			is.True(len(make([]byte, 2*burstBytes)) > 0)
			time.Sleep(trimAfter)
			synctest.Wait()
		}
		is.Equal(trimmed.Load(), int64(0))
		for range 10 {
			is.True(len(make([]byte, trimBytes)) > 0)
			time.Sleep(trimAfter)
			synctest.Wait()
		}
		is.Equal(trimmed.Load(), int64(1))
		time.Sleep(time.Hour) // quiet at last
		synctest.Wait()
		is.Equal(trimmed.Load(), int64(2))
	})
}
