using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports.Pipes;

/// <summary>
/// A wire over the application's pipe. The pipe's methods may be the application's code, may block, and may complete on the stack of its
/// own calls. So the thread pool calls them, and completions reach the shard from there. Both halves end by themselves, as over tcp.
/// </summary>
internal sealed class PipeWire : Wire
{
    public new const string Scheme = "pipe";

    // No text names such an endpoint, so nothing parses one.
    private static readonly Transport s_row = new(Scheme, "", Parse: null!, static (address, _, _) => $"{address}");

    private readonly PipeReading _input;
    private readonly PipeWriting _output;
    private bool _endsInOrder;

    public PipeWire(IDuplexPipe pipe, PeerDetails peer)
        : base(s_row)
    {
        _input = new PipeReading(this, pipe.Input);
        _output = new PipeWriting(this, pipe.Output);
        RemoteEndPoint = new PipeAddress(EndpointText.Printable(peer.RemoteAddress));
        RemoteCertificate = peer.RemoteCertificate;
        SubProtocol = peer.SubProtocol;
        Details = peer;
    }

    public override string PeerAddress => IPEndPoint.TryParse(Details!.RemoteAddress, out IPEndPoint? ip)
        ? ip.Address.ToString() : $"{RemoteEndPoint}";

    public override bool HasOwnBuffer => true;

    public override int Available => _input.UnreadBytes;

    public override int UnreadBytes => _input.UnreadBytes;

    public override bool HasUnread => _input.IsBusy ? _input.IsDue
        : _input.UnreadBytes > 0 || _input.HasEnded || _input.Failure is not null;

    public override bool IsWritable => !_output.IsBusy;

    /// <summary>Both ends of the pipe are completed.</summary>
    public Task Released => Task.WhenAll(_input.Released, _output.Released);

    public IWireEvents Sink => Events;

    public override bool WaitForInput() => _input.TryWait();

    public override WireStatus FinishWait() => StatusOf(_input.Failure);

    public override WireStatus Receive(Span<byte> into, out int received)
    {
        received = _input.Receive(into);
        return received > 0 ? WireStatus.Done
            : _input.IsBusy ? WireStatus.WouldWait
            : _input.HasEnded ? WireStatus.Ended
            : StatusOf(_input.Failure) is WireStatus.Failed ? WireStatus.Failed : WireStatus.WouldWait;
    }

    public override WireStatus Send(ReadOnlySpan<byte> bytes, out int sent)
    {
        sent = 0;
        return WireStatus.WouldWait;
    }

    public override bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
    {
        SentBytes = bytes.Length;
        return _output.TrySend(bytes);
    }

    public override WireStatus FinishSend()
    {
        WireStatus status = StatusOf(_output.Failure);
        SentBytes = status == WireStatus.Done ? SentBytes : 0;
        return status;
    }

    public override WireStatus EndSending(WireEnd end)
    {
        _endsInOrder = true;
        return _output.TryEnd() ? WireStatus.WouldWait : WireStatus.Failed;
    }

    public override void AvoidReset() => _endsInOrder = true;

    public override void Dispose() => ThreadPool.UnsafeQueueUserWorkItem(static wire => wire.Close(), this, preferLocal: false);

    private void Close()
    {
        Exception? why = _endsInOrder ? null : IoStreamErrors.Of(SocketError.ConnectionReset);
        _input.Close(why);
        _output.Close(why);
    }

    private WireStatus StatusOf(Exception? failure)
    {
        if (failure is null)
        {
            return WireStatus.Done;
        }

        (Error, Detail) = (IoStreamErrors.ErrorOf(failure), $"the pipe failed: {IoStreamErrors.WordsOf(failure)}");
        return WireStatus.Failed;
    }

    private sealed class PipeAddress(string text) : EndPoint
    {
        public override string ToString() => text;
    }
}

/// <summary>The listener of one connection, which the application brings. Nobody can dial it.</summary>
internal sealed class PipeListener(IDuplexPipe pipe, PeerDetails peer) : ITransportListener
{
    private readonly PipeWire _wire = new(pipe, peer);
    private readonly TaskCompletionSource<DisconnectReason> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public WireUpgrade? Upgrade => null;

    public string Endpoint { get; } = $"{PipeWire.Scheme}{EndpointText.Separator}{EndpointText.Printable(peer.Name)}";

    public long Handle => 0;

    public void Start(IAcceptSink sink, TimeProvider time) => sink.OnAccepted(_wire);

    public void Dispose() => _wire.Dispose();

    public void OnConnectionEnded(DisconnectReason reason) => _ended.TrySetResult(reason);

    /// <summary>The pipe is completed by then.</summary>
    public async Task<DisconnectReason> WaitForEndAsync()
    {
        DisconnectReason reason = await _ended.Task.ConfigureAwait(false);
        await _wire.Released.ConfigureAwait(false);
        return reason;
    }
}
