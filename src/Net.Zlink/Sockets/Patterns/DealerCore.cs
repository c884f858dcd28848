using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>DEALER: messages go round the peers that have room, and come fairly from all.</summary>
internal sealed class DealerCore(EngineHost host, InprocRegistry inproc) : SocketCore(host, inproc, ZmpSocketType.Dealer)
{
    private readonly Rotation<Pipe> _rotation = new();
    private Pipe? _sole;

    public override bool CanSend
    {
        get
        {
            using (Gate.Hold())
            {
                while (_rotation.Current is { } slot)
                {
                    if (slot.Peer.HasRoom)
                    {
                        return true;
                    }

                    _rotation.Deactivate(slot);
                }

                return false;
            }
        }
    }

    public override SendStatus Route(ReadOnlySpan<byte> routeId, in OutgoingMessage message)
    {
        // The usual DEALER has one peer, and no choice to guard by the lock.
        if (Volatile.Read(ref _sole) is { } sole && sole.TrySend(message) == SendStatus.Accepted)
        {
            return SendStatus.Accepted;
        }

        while (true)
        {
            RotationSlot<Pipe>? slot;
            using (Gate.Hold())
            {
                slot = _rotation.Current;
                if (slot is null)
                {
                    return SendStatus.Full;
                }

                _rotation.Advance();
            }

            SendStatus status = slot.Peer.TrySend(message);
            if (status == SendStatus.Accepted)
            {
                return status;
            }

            using (Gate.Hold())
            {
                // Looked at once more under the lock: room that came in between was reported while the pipe still took turns.
                if (slot.Peer.IsAttached && ReferenceEquals(slot.Peer.Place, slot) && !slot.Peer.HasRoom)
                {
                    _rotation.Deactivate(slot);
                }
            }
        }
    }

    protected override bool Attach(Pipe pipe)
    {
        IntroduceUnderLock(pipe);
        pipe.Place = _rotation.Add(pipe);
        FindSole();
        return true;
    }

    protected override void Remove(Pipe pipe)
    {
        if (pipe.Place is RotationSlot<Pipe> slot)
        {
            pipe.Place = null;
            _rotation.Remove(slot);
            FindSole();
        }
    }

    private void FindSole() => Volatile.Write(ref _sole, _rotation is { Count: 1, Current: { } slot } ? slot.Peer : null);

    protected override void OnWritable(Pipe pipe) => _rotation.Activate((RotationSlot<Pipe>)pipe.Place!);
}
