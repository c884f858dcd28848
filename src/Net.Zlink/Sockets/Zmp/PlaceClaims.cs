using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>
/// Newcomers wait in line for a place which another connection has (docs/protocol.md, 15.3). A client that is opened and closed again and
/// again has several connections here at once, and what each has sent is received in its turn. The holder is asked once, and the line is
/// short, so a flood of newcomers costs little more than one.
/// </summary>
internal sealed class PlaceClaims(SocketCore socket)
{
    /// <summary>When more wait, the newest takes the place of the one before it in the line.</summary>
    public const int MaxWaiting = 32;

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
            WireLink before = holder;
            for (int waiting = 1; waiting < MaxWaiting && before.Newcomer is { } earlier; waiting++)
            {
                before = earlier.Link;
            }

            var question = new PlaceQuestion(holder.IsQuestionPending ? null : holder.Accepted, before.Newcomer);
            before.Newcomer = newcomer;
            holder.IsQuestionPending = true;
            newcomer.Held.WaitsFor = before;
            return question;
        }
    }

    public void Ask(in PlaceQuestion question)
    {
        Reject(question.Displaced);
        question.Holder?.Connection.PostToSink();
    }

    /// <summary>The first of the line comes again. It is asked in its turn if others wait behind it.</summary>
    public void OnLeft(WireLink holder)
    {
        ZmpSession? first;
        lock (_gate)
        {
            first = holder.Newcomer;
            holder.Newcomer = null;
            holder.IsQuestionPending = false;
            first?.Link.IsQuestionPending = first.Link.Newcomer is not null;
        }

        first?.Connection.PostToSink();
    }

    /// <summary>The newcomers are closed without an ERROR, so their sockets connect again.</summary>
    public void OnAnswered(WireLink holder)
    {
        List<ZmpSession> all = [];
        lock (_gate)
        {
            WireLink? before = holder;
            while (before is not null)
            {
                ZmpSession? next = before.Newcomer;
                before.Newcomer = null;
                before.IsQuestionPending = false;
                if (next is not null)
                {
                    all.Add(next);
                }

                before = next?.Link;
            }
        }

        foreach (ZmpSession newcomer in all)
        {
            Reject(newcomer);
        }
    }

    /// <summary>
    /// True: the silent holder leaves. Those in the line had its time to end, too: each is read, and only the newest may stay.
    /// </summary>
    public bool IsToLeave(WireLink holder)
    {
        lock (_gate)
        {
            for (ZmpSession? one = holder.Newcomer; one?.Link.Newcomer is { } next; one = next)
            {
                one.Held.IsToEnd = true;
            }

            return holder.IsQuestionPending = holder.Newcomer is not null;
        }
    }

    public void Remove(ZmpSession newcomer)
    {
        lock (_gate)
        {
            if (newcomer.Held.WaitsFor is { } before && ReferenceEquals(before.Newcomer, newcomer))
            {
                ZmpSession? next = newcomer.Link.Newcomer;
                newcomer.Link.Newcomer = null;
                newcomer.Link.IsQuestionPending = false;
                before.Newcomer = next;
                next?.Held.WaitsFor = before;
            }
        }
    }

    public void Reject(ZmpSession? newcomer)
    {
        if (newcomer is not null)
        {
            socket.Events.Refused(newcomer, socket.RefusalReason(newcomer.Link.Peer));
            newcomer.Connection.RequestClose(DisconnectReason.Refused, CloseMode.Orderly);
        }
    }
}

internal readonly record struct PlaceQuestion(ZmpSession? Holder, ZmpSession? Displaced);
