namespace Net.Zlink.Tests.Support;

/// <summary>What carries the bytes and the ends of two sockets to each other.</summary>
internal sealed class MemoryLink
{
    private bool _isOver;

    public MemoryLink(MemoryPeer dialling, MemoryPeer accepting)
    {
        (Dialling, Accepting) = (dialling, accepting);
        dialling.AnswersEnd = accepting.AnswersEnd = false;
    }

    /// <summary>Where what the socket writes that dialled can be stopped.</summary>
    public MemoryPeer Dialling { get; }

    public MemoryPeer Accepting { get; }

    /// <summary>What is written stays where it is.</summary>
    public bool IsHeld { get; set; }

    /// <summary>True if anything was under way.</summary>
    public bool Carry()
    {
        if (_isOver || IsHeld)
        {
            return false;
        }

        bool moved = Carry(Dialling, Accepting) | Carry(Accepting, Dialling);
        _isOver = Dialling.IsClosed && Accepting.IsClosed;
        return moved;
    }

    /// <summary>The network drops the connection.</summary>
    public void Reset()
    {
        _isOver = true;
        Dialling.Reset();
        Accepting.Reset();
    }

    private static bool Carry(MemoryPeer from, MemoryPeer to)
    {
        bool moves = from.Unread > 0;
        to.Send(from.ReadAll());
        if (from.HasEnded)
        {
            to.EndSending();
        }
        else if (from.IsClosed)
        {
            to.Reset();
        }

        return moves;
    }
}
