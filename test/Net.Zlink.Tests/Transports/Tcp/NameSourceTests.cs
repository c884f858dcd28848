using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports.Tcp;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tcp;

/// <summary>Names whose server is silent cost the process nothing but threads of our own, and not too many of those.</summary>
public sealed class NameSourceTests : IDisposable
{
    private readonly ScriptedSource _source = new();

    public void Dispose() => _source.LetAllGo();

    [Fact]
    public async Task A_look_up_sleeps_on_no_thread_of_the_pool_and_lets_those_go_who_give_up()
    {
        using var impatient = new CancellationTokenSource();
        Task<IPAddress[]> asking = _source.LookupAsync("silent", AddressFamily.InterNetwork, impatient.Token);
        Assert.False((await _source.NextAskedAsync()).IsPoolThread);
        await impatient.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => asking.Guarded());
    }

    [Fact]
    public async Task Concurrent_lookups_of_one_name_share_a_query_and_a_later_lookup_starts_a_new_one()
    {
        using var impatient = new CancellationTokenSource();
        Task<IPAddress[]> one = Ask("a");
        Task<IPAddress[]> two = Ask("a");
        Task<IPAddress[]> left = _source.LookupAsync("a", AddressFamily.InterNetwork, impatient.Token);
        Task<IPAddress[]> six = _source.LookupAsync("a", AddressFamily.Unspecified, Guard.Token); // another question
        await _source.NextAskedAsync();
        await _source.NextAskedAsync();
        await impatient.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => left.Guarded());
        Assert.Equal(2, _source.Asked);

        _source.Answer("a", IPAddress.Loopback);
        Assert.Equal([IPAddress.Loopback], await one.Guarded());
        Assert.Equal([IPAddress.Loopback], await two.Guarded());
        Assert.Equal([IPAddress.Loopback], await six.Guarded());

        Assert.Equal([IPAddress.Loopback], await Ask("a").Guarded());
        Assert.Equal(3, _source.Asked);
    }

    [Fact]
    public async Task A_failed_name_lookup_fails_for_all_that_share_it()
    {
        Task<IPAddress[]> one = Ask("a");
        Task<IPAddress[]> two = Ask("a");
        _source.Answer("a");
        Assert.Equal(SocketError.TryAgain, (await Assert.ThrowsAsync<SocketException>(() => one.Guarded())).SocketErrorCode);
        Assert.Equal(SocketError.TryAgain, (await Assert.ThrowsAsync<SocketException>(() => two.Guarded())).SocketErrorCode);
    }

    [Fact]
    public async Task Behind_the_last_thread_a_name_waits_for_one()
    {
        Task<IPAddress[]>[] silent = [.. Enumerable.Range(0, NameSource.MaxThreads).Select(i => Ask($"silent{i}"))];
        for (int i = 0; i < silent.Length; i++)
        {
            await _source.NextAskedAsync();
        }

        Task<IPAddress[]> last = Ask("last");
        Assert.Equal(silent.Length, _source.Asked);
        _source.Answer("last", IPAddress.Loopback);
        _source.Answer("silent7", IPAddress.Any);
        Assert.Equal([IPAddress.Any], await silent[7].Guarded());
        Assert.Equal("last", (await _source.NextAskedAsync()).Name);
        Assert.Equal([IPAddress.Loopback], await last.Guarded());
    }

    private Task<IPAddress[]> Ask(string name) => _source.LookupAsync(name, AddressFamily.InterNetwork, Guard.Token);

    /// <summary>A resolver that says nothing of a name until it is told what.</summary>
    private sealed class ScriptedSource : NameSource
    {
        private readonly ConcurrentDictionary<string, TaskCompletionSource<IPAddress[]>> _answers = new(StringComparer.Ordinal);
        private readonly ConcurrentQueue<(string Name, bool IsPoolThread)> _asked = new();
        private readonly SemaphoreSlim _anAsking = new(0);
        private int _count;

        public int Asked => Volatile.Read(ref _count);

        public void Answer(string name, params IPAddress[] addresses) => Of(name).TrySetResult(addresses);

        public void LetAllGo()
        {
            foreach (TaskCompletionSource<IPAddress[]> answer in _answers.Values)
            {
                answer.TrySetResult([]);
            }
        }

        public async Task<(string Name, bool IsPoolThread)> NextAskedAsync()
        {
            await _anAsking.WaitAsync(Guard.Token).Guarded();
            Assert.True(_asked.TryDequeue(out (string Name, bool IsPoolThread) asked));
            return asked;
        }

        public override IPAddress[] Lookup(string name, AddressFamily family)
        {
            Interlocked.Increment(ref _count);
            _asked.Enqueue((name, Thread.CurrentThread.IsThreadPoolThread));
            _anAsking.Release();
            IPAddress[] found = Of(name).Task.GetAwaiter().GetResult();
            return found.Length > 0 ? found : throw new SocketException((int)SocketError.TryAgain);
        }

        private TaskCompletionSource<IPAddress[]> Of(string name) =>
            _answers.GetOrAdd(name, static _ => new TaskCompletionSource<IPAddress[]>());
    }
}
