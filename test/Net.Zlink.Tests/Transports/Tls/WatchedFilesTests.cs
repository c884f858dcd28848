using System.Collections;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports.Tls;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

public sealed class WatchedFilesTests
{
    [Fact]
    public async Task While_a_slow_disk_keeps_one_thread_waiting_the_others_use_what_there_is()
    {
        using var disk = new SlowDisk();
        var files = new WatchedFiles<string>(disk, static () => "what there is");
        Assert.Equal("what there is", files.Get());

        disk.IsSlow = true;
        Task<string> looking = Task.Factory.StartNew(files.Get, Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        await disk.IsLookedAt.WaitAsync(Guard.Token).Guarded();
        Assert.Equal("what there is", files.Get());
        Assert.False(looking.IsCompleted);

        disk.GoOn.Release();
        Assert.Equal("what there is", await looking.Guarded());
    }

    /// <summary>A list of files that takes its time, once it is slow, to be gone through; a second look meanwhile fails.</summary>
    private sealed class SlowDisk : IReadOnlyList<string>, IDisposable
    {
        private int _looks;

        public bool IsSlow { get; set; }

        public SemaphoreSlim IsLookedAt { get; } = new(0);

        public SemaphoreSlim GoOn { get; } = new(0);

        public int Count => 1;

        public string this[int index] => "";

        public IEnumerator<string> GetEnumerator()
        {
            if (IsSlow)
            {
                Assert.Equal(1, Interlocked.Increment(ref _looks));
                IsLookedAt.Release();
                Assert.True(GoOn.Wait(Guard.Limit, Guard.Token));
            }

            yield return "";
        }

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

        public void Dispose()
        {
            IsLookedAt.Dispose();
            GoOn.Dispose();
        }
    }
}
