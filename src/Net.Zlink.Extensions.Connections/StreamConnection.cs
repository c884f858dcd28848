using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;

namespace Net.Zlink.Extensions.Connections;

internal sealed class StreamConnection : DefaultConnectionContext, IConnectionLifetimeNotificationFeature
{
    private readonly StreamPipe _pipe;
    private readonly CancellationTokenSource _closeRequested = new();
    private readonly CancellationTokenRegistration _stopping;

    public StreamConnection(StreamPipe pipe, CancellationToken stopping)
        : base($"zlink-{pipe.Id}")
    {
        _pipe = pipe;
        Transport = pipe;
        LocalEndPoint = pipe.LocalEndPoint;
        RemoteEndPoint = pipe.RemoteEndPoint;
        ConnectionClosed = pipe.Ended;
        ConnectionClosedRequested = _closeRequested.Token;
        Features.Set<IConnectionLifetimeNotificationFeature>(this);
        Features.Set(pipe);
        _stopping = stopping.UnsafeRegister(static connection => ((StreamConnection)connection!).RequestClose(), this);
    }

    public CancellationToken ConnectionClosedRequested { get; set; }

    /// <summary>Off the caller's stack: callbacks of the application run in it.</summary>
    public void RequestClose() => _ = _closeRequested.CancelAsync();

    public override void Abort(ConnectionAbortedException abortReason) => _pipe.Abort(abortReason.Message);

    public override async ValueTask DisposeAsync()
    {
        await _stopping.DisposeAsync().ConfigureAwait(false);
        await _pipe.DisposeAsync().ConfigureAwait(false);
        await base.DisposeAsync().ConfigureAwait(false);
    }
}
