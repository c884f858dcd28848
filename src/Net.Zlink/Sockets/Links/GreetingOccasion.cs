namespace Net.Zlink.Sockets.Links;

internal enum GreetingOccasion
{
    NewLink,

    FirstConnection,

    NextConnection,
}
