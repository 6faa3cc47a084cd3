"""What cannot be done as it was asked."""


class Refused(ValueError):
    """Nothing is wrong with the code: what was asked for is not there, or not to be had. The message says why.

    Pages answer 404 or 422, the API 400, commands status 1, each with the message.
    """
