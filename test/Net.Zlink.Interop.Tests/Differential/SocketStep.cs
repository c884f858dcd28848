namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>What an application does with one of its sockets.</summary>
internal enum SocketAction
{
    Bind,
    Unbind,
    Connect,
    Disconnect,
    Send,

    /// <summary>Sends, and does the next thing before that has arrived.</summary>
    SendAndGoOn,

    /// <summary>Takes all there is.</summary>
    Receive,
    Subscribe,
    Unsubscribe,
    Close,

    /// <summary>Connects, and names the peer.</summary>
    ConnectAs,

    /// <summary>Binds the endpoint by the text that it had.</summary>
    BindAgain,

    /// <summary>Sets an option by its number.</summary>
    Set,

    /// <summary>Reads an option by its number.</summary>
    Get,
}

/// <summary>One thing that an application does with one of its sockets, which are numbered from 0, as are the endpoints.</summary>
internal sealed record SocketStep(int Socket, SocketAction Action, int Endpoint = 0, byte[][]? Parts = null, int Number = 0)
{
    public byte[] Topic => Parts![0];

    public override string ToString() => Action switch
    {
        SocketAction.Bind or SocketAction.BindAgain or SocketAction.Unbind or SocketAction.Connect or SocketAction.Disconnect =>
            $"S{Socket}: {Action} e{Endpoint}",
        SocketAction.Receive or SocketAction.Close => $"S{Socket}: {Action}",
        SocketAction.ConnectAs => $"S{Socket}: Connect e{Endpoint} as {System.Text.Encoding.ASCII.GetString(Topic)}",
        SocketAction.Set => $"S{Socket}: {Number} = {Convert.ToHexStringLower(Topic)}",
        SocketAction.Get => $"S{Socket}: reads {Number}",
        _ => $"S{Socket}: {Action} {string.Join('|', Parts!.Select(SocketRun.Text))}",
    };
}
