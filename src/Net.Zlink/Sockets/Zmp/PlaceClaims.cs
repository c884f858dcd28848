using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Pipes;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>Newcomers whose place another connection has: a routing id of a ROUTER, or the one place of a PAIR. They wait until it is known whether the holder is still there (docs/protocol.md section 15.3). Safe for any number of threads.</summary>
/// <remarks>For each holder the newest newcomer waits, and the holder is asked once for all that come meanwhile: a flood of newcomers takes up no more than one of them.</remarks>
internal sealed class PlaceClaims(SocketCore socket)
{
    private readonly Lock _gate = new();

    /// <summary>Whether a newcomer may wait for this holder's place: not if that peer has shown a certificate and the newcomer has not the same.</summary>
    public static bool MayWait(WirePipe holder, PeerIdentity newcomer) =>
        holder.Peer.Certificate is not { } own || (newcomer.Certificate is { } other && string.Equals(own.Subject, other.Subject, StringComparison.Ordinal));

    /// <summary>Lets a newcomer wait. Under the socket's lock, while the holder has its place; <see cref="Ask"/> follows outside of it.</summary>
    public PlaceQuestion Add(WirePipe holder, ZmpSession newcomer)
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

    /// <summary>Has the holder asked on its shard, unless it is being asked already.</summary>
    public void Ask(in PlaceQuestion question)
    {
        TurnAway(question.Displaced);
        question.Holder?.Connection.PostToSink();
    }

    /// <summary>The holder has left its place: the newcomer tries again, on its shard.</summary>
    public void OnLeft(WirePipe holder) => Take(holder)?.Connection.PostToSink();

    /// <summary>The holder is there: the newcomer is closed plainly, and its socket comes again.</summary>
    public void OnAnswered(WirePipe holder) => TurnAway(Take(holder));

    /// <summary>The holder is silent. True: a newcomer still waits for its place.</summary>
    public bool IsToLeave(WirePipe holder)
    {
        lock (_gate)
        {
            return holder.IsAsked = holder.Newcomer is not null;
        }
    }

    /// <summary>The newcomer is over.</summary>
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

    private ZmpSession? Take(WirePipe holder)
    {
        lock (_gate)
        {
            ZmpSession? newcomer = holder.Newcomer;
            holder.Newcomer = null;
            holder.IsAsked = false;
            return newcomer;
        }
    }

    private void TurnAway(ZmpSession? newcomer)
    {
        if (newcomer is not null)
        {
            socket.Events.Refused(newcomer, socket.WhyNoPlace(newcomer.Pipe.Peer));
            newcomer.Connection.RequestClose(DisconnectReason.Refused, CloseMode.Orderly);
        }
    }
}

/// <summary>What is to be done when a newcomer waits for a place.</summary>
/// <param name="Holder">Who is to be asked; null: it is being asked.</param>
/// <param name="Displaced">A newcomer that waited before, and is turned away.</param>
internal readonly record struct PlaceQuestion(ZmpSession? Holder, ZmpSession? Displaced);
