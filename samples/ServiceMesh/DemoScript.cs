using System.Globalization;

namespace ServiceMesh;

/// <summary>Failures under load in a fixed order. After each step the counts must be what the step says.</summary>
internal sealed class DemoScript(Mesh mesh)
{
    private static readonly TimeSpan MaxWait = TimeSpan.FromSeconds(10);

    // The step's failure falls into its requests: behind the first and before the last ones.
    private static readonly TimeSpan UntilFailure = TimeSpan.FromMilliseconds(300);

    private readonly long _begin = TimeProvider.System.GetTimestamp();
    private long _asked;
    private int _checks;
    private int _wrong;

    /// <returns>What is wrong; null: nothing.</returns>
    public async Task<string?> RunAsync(CancellationToken stop)
    {
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{"",-52}{"expected",10}{"measured",10}"));
        Say("3 registries, 3 receivers and a gateway are up");
        await CheckAsync("receivers that the gateway may use", 3, Ready, stop);
        await CheckAsync("entries in the lists of the registries", 9, Entries, stop);

        Dictionary<string, long> before = mesh.Gateway.Status.Replies;
        await AskAsync("nothing, so each receiver gets its turn", 3_000, static () => Task.CompletedTask, stop);
        foreach (MeshProcess receiver in mesh.Receivers)
        {
            string endpoint = receiver.Settings.Endpoint;
            await CheckAsync($"replies of {receiver.Name}", 1_000,
                () => mesh.Gateway.Status.Replies.GetValueOrDefault(endpoint) - before.GetValueOrDefault(endpoint), stop);
        }

        await AskAsync("registry 1 is killed", 2_000, mesh.Registries[0].KillAsync, stop);
        await CheckAsync("receivers that the gateway may use", 3, Ready, stop);
        Say("registry 1 is started again");
        await mesh.Registries[0].StartAsync();
        await CheckAsync("entries in its list", 3, () => mesh.Registries[0].Status.Listed.Length, stop);

        await AskAsync("registry 2 is cut off from the others", 2_000, () => Do(() => mesh.SetCut(1, isCut: true)), stop);
        await CheckAsync("peers that registry 2 is connected to", 0, () => mesh.Registries[1].Status.Connected, stop);
        Say("the network is mended");
        mesh.SetCut(1, isCut: false);
        await CheckAsync("peers that registry 2 is connected to", 2, () => mesh.Registries[1].Status.Connected, stop);
        await CheckAsync("different lists among the registries", 1, DifferentLists, stop);

        int? exitCode = null;
        await AskAsync("receiver 2 is drained", 3_000, async () => exitCode = await mesh.Receivers[1].DrainAsync(), stop);
        await CheckAsync("its exit code", 0, () => exitCode ?? -1, stop);
        await CheckAsync("entries in the lists of the registries", 6, Entries, stop);
        await CheckAsync("requests whose receiver was lost", 0, () => mesh.Gateway.Status.Repeated, stop);
        Say("receiver 2 is started again");
        await mesh.Receivers[1].StartAsync();
        await CheckAsync("receivers that the gateway may use", 3, Ready, stop);

        await AskAsync("receiver 3 is killed", 2_000, mesh.Receivers[2].KillAsync, stop);
        await CheckAsync("receivers that the gateway may use", 2, Ready, stop);
        Say("receiver 3 is started again");
        await mesh.Receivers[2].StartAsync();
        await CheckAsync("receivers that the gateway may use", 3, Ready, stop);
        await CheckAsync("entries in the lists of the registries", 9, Entries, stop);

        RoleStatus end = mesh.Gateway.Status;
        Say($"at the end: {end.Repeated} requests were sent again because their receiver was killed, {end.Passed} because it refused them");
        await CheckAsync("requests with a right reply, in all", _asked, () => mesh.Gateway.Status.Answered, stop);
        await CheckAsync("different lists among the registries", 1, DifferentLists, stop);
        if (_wrong > 0)
        {
            return $"DEMO FAILED: {_wrong} of {_checks} counts differ. The gateway says: {mesh.Gateway.Status.Remark}";
        }

        Say($"DEMO PASSED: {_checks} counts are as expected");
        return null;

        static Task Do(Action act)
        {
            act();
            return Task.CompletedTask;
        }
    }

    /// <summary>Sends requests, lets something happen meanwhile, and checks that each got its reply.</summary>
    private async Task AskAsync(string what, long count, Func<Task> happens, CancellationToken stop)
    {
        (long answered, long unanswered) = (mesh.Gateway.Status.Answered, mesh.Gateway.Status.Unanswered);
        Say(string.Create(CultureInfo.InvariantCulture, $"{count:N0} requests; meanwhile: {what}"));
        mesh.Ask(count);
        _asked += count;
        await Task.Delay(UntilFailure, stop);
        await happens();
        await Mesh.WaitUntilAsync(
            () => mesh.Gateway.Status.Answered + mesh.Gateway.Status.Unanswered == answered + unanswered + count, MaxWait, stop);
        await CheckAsync("requests with a right reply", count, () => mesh.Gateway.Status.Answered - answered, stop);
        await CheckAsync("requests without one", 0, () => mesh.Gateway.Status.Unanswered - unanswered, stop);
    }

    private long Ready() => mesh.Gateway.Status.Listed.Length;

    private long Entries() => mesh.Registries.Sum(static registry => registry.Status.Listed.Length);

    private long DifferentLists() =>
        mesh.Registries.Select(static registry => string.Join(' ', registry.Status.Listed.Order(StringComparer.Ordinal)))
            .Distinct(StringComparer.Ordinal).Count();

    private async Task CheckAsync(string what, long expected, Func<long> measured, CancellationToken stop)
    {
        // Of a count that is wrong already, nothing better will come of waiting.
        bool isRight = await Mesh.WaitUntilAsync(() => measured() == expected, _wrong == 0 ? MaxWait : TimeSpan.FromSeconds(1), stop);
        _checks++;
        _wrong += isRight ? 0 : 1;
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"          {what,-42}{expected,10:N0}{measured(),10:N0}{(isRight ? "" : "   DIFFERS")}"));
    }

    private void Say(string what) => Console.WriteLine(
        string.Create(CultureInfo.InvariantCulture, $"{TimeProvider.System.GetElapsedTime(_begin).TotalSeconds,6:0.0} s  {what}"));
}
