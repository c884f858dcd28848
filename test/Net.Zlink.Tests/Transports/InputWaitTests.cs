using System.Globalization;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Samples;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Transports;

public sealed class InputWaitTests : IAsyncLifetime
{
    private Socket _peer = null!;
    private Socket _ours = null!;
    private readonly TlsShutdownGate _reads = new();
    private InputWait _wait = null!;

    public async ValueTask InitializeAsync()
    {
        (_peer, _ours) = await ConnectedPairAsync();
        _wait = new InputWait(_ours, _reads);
    }

    public ValueTask DisposeAsync()
    {
        _wait.Dispose();
        _ours.Dispose();
        _peer.Dispose();
        return ValueTask.CompletedTask;
    }

    [Fact]
    public async Task An_input_wait_ends_when_bytes_come_and_reads_none_of_them()
    {
        for (int i = 0; i < 100; i++)
        {
            Task<int> waiting = _wait.WaitAsync().AsTask();
            Assert.False(waiting.IsCompleted);
            _peer.Send([1, 2, 3]);
            Assert.Equal(0, await waiting.Guarded());
            Assert.True(_wait.WaitAsync().AsTask().IsCompletedSuccessfully); // They are still there.
            Assert.Equal(3, _ours.Receive(new byte[10]));
        }
    }

    [Theory]
    [InlineData("bytes")]
    [InlineData("reset")]
    [InlineData("disposed")]
    [InlineData("disposed before")]
    [InlineData("there already")]
    public async Task The_reader_rests_while_it_waits_and_no_longer(string end)
    {
        _reads.Enter();
        switch (end)
        {
            case "disposed before":
                _ours.Dispose();
                break;
            case "there already":
                _peer.Send([1]);
                Assert.True(_ours.Poll(Patience, SelectMode.SelectRead));
                break;
        }

        Task<int> waiting = _wait.WaitAsync().AsTask();
        if (!waiting.IsCompleted)
        {
            Assert.True(_reads.RunAsync(static () => Task.CompletedTask).IsCompleted);
        }

        switch (end)
        {
            case "bytes":
                _peer.Send([1]);
                break;
            case "reset":
                _peer.LingerState = new LingerOption(enable: true, seconds: 0);
                _peer.Dispose();
                break;
            case "disposed":
                _ours.Dispose();
                break;
        }

        await Record.ExceptionAsync(() => waiting.Guarded());
        Task errand = _reads.RunAsync(static () => Task.CompletedTask);
        Assert.False(errand.IsCompleted);
        _reads.Leave();
        await errand.Guarded();
    }

    [Fact]
    public async Task An_input_wait_ends_at_the_peers_end()
    {
        Task<int> waiting = _wait.WaitAsync().AsTask();
        _peer.Shutdown(SocketShutdown.Send);
        Assert.Equal(0, await waiting.Guarded());
        Assert.Equal(0, _ours.Receive(new byte[10]));
    }

    [Fact]
    public async Task A_reset_is_an_error_of_the_stream_or_shows_in_the_next_read()
    {
        Task<int> waiting = _wait.WaitAsync().AsTask();
        _peer.LingerState = new LingerOption(enable: true, seconds: 0);
        _peer.Dispose();
        Exception? failure = await Record.ExceptionAsync(() => waiting.Guarded());
        Assert.True(failure is null or IOException { InnerException: SocketException }, failure?.ToString());
    }

    [Fact]
    public async Task Disposing_of_the_socket_ends_it()
    {
        Task<int> waiting = _wait.WaitAsync().AsTask();
        _ours.Dispose();
        Exception? failure = await Record.ExceptionAsync(() => waiting.Guarded());
        Assert.True(IoStreamErrors.IsOfStream(failure!), failure?.ToString());
        Exception? late = await Record.ExceptionAsync(() => _wait.WaitAsync().AsTask().Guarded());
        Assert.True(IoStreamErrors.IsOfStream(late!), late?.ToString());
    }

    /// <summary>In a process of its own, whose completions run where the test says.</summary>
    [Theory]
    [InlineData(true, 4, "none")]
    [InlineData(false, 4, "some")]
    [InlineData(false, 0, "none")] // The first reports are looked at: what waits in vain behind a handshake may do so for good.
    public async Task A_read_that_follows_a_report_of_bytes_that_were_read_before_goes_on_waiting_and_holds_no_buffer(
        bool inlineCompletions, int earlierWaits, string falseReports)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "it reports what is there");
        await using ChildProcess child = Programs.Child("wait", earlierWaits.ToString(CultureInfo.InvariantCulture))
            .WithInlineCompletions(inlineCompletions).Start();
        Assert.Equal($"WAITS held: 0, false reports: {falseReports}, polling: {inlineCompletions}", await child.ReadLineAsync("WAITS "));
    }
}
