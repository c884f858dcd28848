namespace Net.Zlink.Tool.Commands;

internal static class Sending
{
    public static MessageBuilder AddAll(this MessageBuilder message, byte[][] parts)
    {
        foreach (byte[] part in parts)
        {
            message.Add(part);
        }

        return message;
    }

    /// <summary>Sends all messages of a command.</summary>
    public static async Task SendAllAsync(this CommandRun run, IMessageSender socket)
    {
        using var message = new MessageBuilder(run.Context.Pool);
        await foreach (byte[][] parts in run.MessagesAsync(run.Token).ConfigureAwait(false))
        {
            await socket.SendAsync(message.AddAll(parts), run.Token).ConfigureAwait(false);
        }
    }
}
