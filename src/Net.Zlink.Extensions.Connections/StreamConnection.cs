using System.IO.Pipelines;
using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http.Features;

namespace Net.Zlink.Extensions.Connections;

internal sealed class StreamConnection : ConnectionContext, IConnectionLifetimeNotificationFeature
{
    private readonly StreamPipe _pipe;
    private readonly CancellationTokenSource _closeRequested = new();
    private readonly CancellationTokenRegistration _stopping;
    private IDictionary<object, object?>? _items;

    public StreamConnection(StreamPipe pipe, CancellationToken stopping)
    {
        _pipe = pipe;
        Transport = pipe;
        ConnectionId = $"zlink-{pipe.Id}";
        ConnectionClosed = pipe.Ended;
        ConnectionClosedRequested = _closeRequested.Token;
        Features.Set<IConnectionLifetimeNotificationFeature>(this);
        Features.Set(pipe);
        _stopping = stopping.UnsafeRegister(static connection => ((StreamConnection)connection!).RequestClose(), this);
    }

    public override string ConnectionId { get; set; }

    public override IFeatureCollection Features { get; } = new FeatureCollection();

    public override IDictionary<object, object?> Items
    {
        get => _items ??= new Dictionary<object, object?>();
        set => _items = value;
    }

    public override IDuplexPipe Transport { get; set; }

    public override EndPoint? LocalEndPoint
    {
        get => _pipe.LocalEndPoint;
        set => throw new NotSupportedException("The local address cannot be set: it belongs to the connection.");
    }

    public override EndPoint? RemoteEndPoint
    {
        get => _pipe.RemoteEndPoint;
        set => throw new NotSupportedException("The remote address cannot be set: it belongs to the connection.");
    }

    public override CancellationToken ConnectionClosed { get; set; }

    public CancellationToken ConnectionClosedRequested { get; set; }

    /// <summary>Off the caller's stack: callbacks of the application run in it.</summary>
    public void RequestClose() => _ = _closeRequested.CancelAsync();

    public override void Abort(ConnectionAbortedException abortReason) => _pipe.Abort(abortReason.Message);

    public override void Abort() => Abort(new ConnectionAbortedException());

    public override async ValueTask DisposeAsync()
    {
        await _stopping.DisposeAsync().ConfigureAwait(false);
        await _pipe.DisposeAsync().ConfigureAwait(false);
        await base.DisposeAsync().ConfigureAwait(false);
    }
}
