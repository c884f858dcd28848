using System.Text;
using Net.Zlink.Services;

namespace Net.Zlink.Tests.Child;

/// <summary>A receiver that answers with what it was asked. Says READY and its endpoint, and EXECUTED for each request. It ends when its
/// input does.</summary>
internal static class ReceiverProcess
{
    public static async Task<int> RunAsync()
    {
        await using var context = new ZlinkContext();
        await using var receiver = new ServiceReceiver(context);
        Console.WriteLine($"READY {receiver.Bind("tcp://127.0.0.1:*")}");
        _ = receiver.ServeAsync((request, cancellation) =>
        {
            Console.WriteLine($"EXECUTED {Encoding.UTF8.GetString(request.Span)}");
            return request.ReplyAsync(request.Memory, cancellation);
        });
        await Console.In.ReadToEndAsync();
        return 0;
    }
}
