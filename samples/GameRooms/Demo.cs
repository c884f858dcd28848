using System.Globalization;

namespace Samples.GameRooms;

/// <summary>Leads the node processes through the demo, step by step, and judges their results.</summary>
internal static class Demo
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    /// <returns>What went wrong, or null.</returns>
    public static async Task<string?> RunAsync(Func<ChildProcess> start, int nodes, CancellationToken cancellation)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(Limit); // A busy machine takes a while to start four processes.
        ChildProcess[] children = [.. Enumerable.Range(0, nodes).Select(_ => start())];
        try
        {
            await StepAsync(children, "READY", "GO", limit.Token).ConfigureAwait(false);
            await StepAsync(children, "PUBLISHED", "CHECK", limit.Token).ConfigureAwait(false);
            string[] texts = await StepAsync(children, "RESULT", "END", limit.Token).ConfigureAwait(false);
            NodeResult[] results = [.. texts.Select(NodeResult.Read)];
            for (int i = 0; i < results.Length; i++)
            {
                NodeResult result = results[i];
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                    $"node {i + 1}: {result.Expected:N0} messages for its bots, {result.Missing} missing, {result.Doubles} twice, "
                    + $"{result.Foreign} not subscribed, {result.BotsDropped} dropped; "
                    + $"its slow subscriber dropped {result.SlowDropped:N0} of {result.SlowMatched:N0}; p50 {result.P50} us"));
            }

            bool isGood = results.All(static result => result.IsGood);
            Console.WriteLine(isGood ? "DEMO PASSED" : "DEMO FAILED");
            return isGood ? null : "a bot missed a message, or got one that it should not have";
        }
        finally
        {
            foreach (ChildProcess child in children)
            {
                await child.DisposeAsync().ConfigureAwait(false);
            }
        }
    }

    private static async Task<string[]> StepAsync(ChildProcess[] children, string awaited, string command, CancellationToken cancellation)
    {
        string[] answers = await Task.WhenAll(children.Select(child => child.ReadWordAsync(awaited, cancellation))).ConfigureAwait(false);
        Array.ForEach(children, child => child.Send(command));
        return answers;
    }
}
