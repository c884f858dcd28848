using System.Net;
using System.Net.Sockets;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests;

/// <summary>What goes on behind a call neither sees the caller's execution context nor keeps it alive.</summary>
public sealed class CallerContextTests
{
    private static readonly AsyncLocal<object?> Local = new();

    [Fact]
    public async Task A_callback_for_events_sees_neither_what_its_registrar_had_nor_what_an_earlier_call_has_set()
    {
        await using var context = new ZlinkContext();
        using RouterSocket server = context.CreateRouter();
        var seen = new List<object?>();
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Local.Value = "the registrar's";
        using IDisposable calls = server.OnEvent(SocketEventTypes.All, one =>
        {
            seen.Add(Local.Value);
            Local.Value = "an earlier call's";
            if (one.Type == SocketEventTypes.MonitorStopped)
            {
                done.SetResult();
            }
        });
        server.Bind("tcp://127.0.0.1:0");
        server.Bind("tcp://127.0.0.1:0");
        server.Dispose();
        await done.Task.Guarded();
        Assert.Equal("the registrar's", Local.Value);
        Assert.InRange(seen.Count, 3, int.MaxValue);
        Assert.All(seen, Assert.Null);
    }

    [Fact]
    public async Task An_endpoint_that_dials_again_and_again_does_so_outside_of_its_callers_context()
    {
        using var refusing = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        refusing.Bind(new IPEndPoint(IPAddress.Loopback, 0)); // And does not listen.
        var time = new NotingTime();
        await using var context = new ZlinkContext(new ZlinkContextOptions { TimeProvider = time });
        using DealerSocket client = context.CreateDealer();
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectRetried);
        Local.Value = "the caller's";
        client.Connect($"tcp://{refusing.LocalEndPoint}");
        Local.Value = null;
        await monitor.ReadAsync(Guard.Token).Guarded();
        await monitor.ReadAsync(Guard.Token).Guarded(); // The first pause is over: its timer was made.
        Assert.False(time.SawLocal);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0", false)]
    [InlineData("tcp://127.0.0.1:0", true)]
    [InlineData("ws://127.0.0.1:0", false)]
    [InlineData("ws://127.0.0.1:0", true)]
    public async Task A_connection_does_not_keep_what_its_maker_had_alive(string endpoint, bool isPipe)
    {
        await using var fixture = new StreamFixture();
        using StreamSocket server = fixture.Context.CreateStream();
        string bound = server.Bind(endpoint);
        using StreamSocket client = fixture.Context.CreateStream();
        WeakReference had = await ConnectAsync(client, bound, isPipe);
        await UntilGoneAsync(fixture, had);
        await fixture.UntilAsync(() => server.PeerCount == 1);
    }

    [Fact]
    public async Task A_receive_goes_on_in_its_callers_context_whoever_completes_it()
    {
        await using var fixture = new StreamFixture();
        using StreamSocket server = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        Local.Value = "the caller's";
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose(); // That the peer has come.
        Task<string> received = ReceiveAsync(server);
        Local.Value = "what came later";
        await peer.SendFrameAsync(1);
        Assert.Equal("the caller's", await received.Guarded());

        static async Task<string> ReceiveAsync(StreamSocket socket)
        {
            (await socket.ReceiveAsync(Guard.Token)).Dispose();
            return (string)Local.Value!;
        }
    }

    private static async Task<WeakReference> ConnectAsync(StreamSocket client, string endpoint, bool isPipe)
    {
        Local.Value = new object();
        if (isPipe)
        {
            await client.ConnectPipeAsync(endpoint, Guard.Token).Guarded();
        }
        else
        {
            await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        }

        return new WeakReference(Local.Value);
    }

    private static Task UntilGoneAsync(StreamFixture fixture, WeakReference had) => fixture.UntilAsync(() =>
    {
        GC.Collect();
        return !had.IsAlive;
    });

    /// <summary>The system's clock, which notes in what context it is asked for timers.</summary>
    private sealed class NotingTime : TimeProvider
    {
        private volatile bool _sawLocal;

        public bool SawLocal => _sawLocal;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            _sawLocal |= Local.Value is not null;
            return base.CreateTimer(callback, state, dueTime, period);
        }
    }
}
