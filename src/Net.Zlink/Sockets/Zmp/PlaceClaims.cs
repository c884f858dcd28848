using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// Newcomers wait for a place which another connection has (docs/protocol.md, 15.3). Only the newest waits, and the holder is asked once,
/// so a flood of newcomers costs no more than one.
/// </summary>
internal sealed class PlaceClaims(SocketCore socket)
{
    private readonly Lock _gate = new();

    /// <summary>False if the holder has shown a certificate and the newcomer none with the same subject.</summary>
    public static bool MayWait(WireLink holder, PeerIdentity newcomer) =>
        holder.Peer.Certificate is not { } own
        || (newcomer.Certificate is { } other && string.Equals(own.Subject, other.Subject, StringComparison.Ordinal));

    /// <summary>The caller calls <see cref="Ask"/> outside the lock.</summary>
    public PlaceQuestion Add(WireLink holder, ZmpSession newcomer)
    {
        lock (_gate)
        {
            var question = new PlaceQuestion(holder.IsAsked ? null : holder.Accepted, holder.Newcomer);
            holder.Newcomer = newcomer;
            holder.IsAsked = true;
            newcomer.Held.WaitsFor = holder;
            return question;
        }
    }

    public void Ask(in PlaceQuestion question)
    {
        Reject(question.Displaced);
        question.Holder?.Connection.PostToSink();
    }

    public void OnLeft(WireLink holder) => Take(holder)?.Connection.PostToSink();

    /// <summary>The newcomer is closed without an ERROR, so its socket connects again.</summary>
    public void OnAnswered(WireLink holder) => Reject(Take(holder));

    public bool IsToLeave(WireLink holder)
    {
        lock (_gate)
        {
            return holder.IsAsked = holder.Newcomer is not null;
        }
    }

    public void Remove(ZmpSession newcomer)
    {
        lock (_gate)
        {
            if (newcomer.Held.WaitsFor is { } holder && ReferenceEquals(holder.Newcomer, newcomer))
            {
                holder.Newcomer = null;
            }
        }
    }

    private ZmpSession? Take(WireLink holder)
    {
        lock (_gate)
        {
            ZmpSession? newcomer = holder.Newcomer;
            holder.Newcomer = null;
            holder.IsAsked = false;
            return newcomer;
        }
    }

    private void Reject(ZmpSession? newcomer)
    {
        if (newcomer is not null)
        {
            socket.Events.Refused(newcomer, socket.RefusalReason(newcomer.Pipe.Peer));
            newcomer.Connection.RequestClose(DisconnectReason.Refused, CloseMode.Orderly);
        }
    }
}

internal readonly record struct PlaceQuestion(ZmpSession? Holder, ZmpSession? Displaced);
